package ratelimit

import (
	"cmp"
	"time"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
)

// These rules check the values of an override.
var (
	// KindRule checks the kind of a target.
	KindRule = &input.Text{Pattern: string(Users) + "|" + string(Organizations), Says: "users or organizations"}
	// TargetRule checks the name of a user (the sub of a token) or of an organization. Only the
	// issuers know which names exist, so an override can be set before the first call.
	TargetRule = &input.Text{Pattern: `[ -~]{1,255}`, Says: "1 to 255 printable ASCII characters"}
	// IssuerRule leaves room for issuer and user in one resource id of the audit trail if the
	// issuer is a URL. No other issuer has users.
	IssuerRule = &input.Text{Pattern: `[ -~]{1,240}`, Says: "1 to 240 printable ASCII characters"}
	// LimitRule checks a limit; 0 allows no request.
	LimitRule = &input.Integer{Least: 0, Most: highest}
	// BoxLimitRule checks a limit of all boxes. It is never below that of one.
	BoxLimitRule = &input.Integer{Least: 600, Most: setting.HighestBoxLimit}
	// ReasonRule checks the reason for an override.
	ReasonRule = &input.Text{Min: 1, Max: 500, Trim: true, Check: input.Visible, Says: "1 to 500 characters without control characters and invisible characters"}
)

// ReadTarget reads the path parameters kind and id and, for a user, the query parameter issuer. If it is not given, the
// caller of ReadTarget sets the issuer: that of the caller's own token.
func ReadTarget(in *input.Reader) Target {
	target := Target{Kind: TargetKind(in.Path("kind", KindRule)), ID: in.Path("id", TargetRule)}
	target.Issuer, _ = in.QueryIf(target.Kind == Users, "issuer", IssuerRule)
	return target
}

// Of completes a target that a caller with a token of an issuer named.
func (target Target) Of(issuer string) Target {
	if target.Kind == Users {
		target.Issuer = cmp.Or(target.Issuer, issuer)
	}
	return target
}

// ReadOverrideSpec reads limit, copilotLimit and boxLimit, of which at least one must be given, expiresAt
// and reason.
func ReadOverrideSpec(body *input.Object) OverrideSpec {
	var spec OverrideSpec
	limit := func(name string, rule *input.Integer) *int {
		n, given := body.OptionalInteger(name, rule)
		if !given {
			return nil
		}
		return new(int(n))
	}
	spec.Limit, spec.CopilotLimit, spec.BoxLimit = limit("limit", LimitRule), limit("copilotLimit", LimitRule), limit("boxLimit", BoxLimitRule)
	body.RequireAny("limit", "copilotLimit", "boxLimit")
	if text, given := body.OptionalText("expiresAt", input.Time); given {
		at := input.ParseTime(text)
		if at.Year() > 9999 {
			// A time zone can move a time into a year of five digits, which RFC 3339 cannot
			// express.
			body.Fault("expiresAt", "format", "must not be after the year 9999 in UTC")
		}
		spec.ExpiresAt = new(at.Truncate(time.Millisecond))
	}
	spec.Reason, _ = body.OptionalText("reason", ReasonRule)
	return spec
}
