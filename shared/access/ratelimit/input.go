package ratelimit

import (
	"time"

	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/request"
	"wavegate/shared/platform/value"
)

// Rules of an arrangement's values.
var (
	// KindRule is that of the kinds of holders.
	KindRule = &value.Text{Pattern: string(Users) + "|" + string(Organizations), Says: "users or organizations"}
	// HolderRule is that of what tokens call a user (their sub) or an organization. Which of these names
	// exist is the issuers' affair, so limits can be arranged before the first call.
	HolderRule = &value.Text{Pattern: `[ -~]{1,255}`, Says: "1 to 255 printable ASCII characters"}
	// IssuerRule leaves room for issuer and user in one resource id of the audit trail, where the issuer is
	// a URL. Any other is nobody's.
	IssuerRule = &value.Text{Pattern: `[ -~]{1,240}`, Says: "1 to 240 printable ASCII characters"}
	// LimitRule is that of a limit; 0 lets nothing through.
	LimitRule = &value.Integer{Least: 0, Most: Highest}
	// ReasonRule is that of why a limit was arranged.
	ReasonRule = &value.Text{Min: 1, Max: 500, Trim: true, Check: value.Visible, Says: "1 to 500 characters without control characters and characters that nobody sees"}
)

// HolderOf reads the path parameters kind and id and, for a user, the query parameter issuer. Without
// it, the user is one of the issuer that the caller's own token comes from.
func HolderOf(in *request.Input, callersIssuer string) Holder {
	h := Holder{Kind: Kind(in.Path("kind", KindRule)), ID: in.Path("id", HolderRule)}
	if h.Kind == Users {
		h.Issuer = callersIssuer
		if issuer, given := in.Query("issuer", IssuerRule); given {
			h.Issuer = issuer
		}
	}
	return h
}

// TermsOf reads limit and copilotLimit, at least one of them, and expiresAt and reason.
func TermsOf(body *fields.Object) Terms {
	var t Terms
	limit := func(name string) *int {
		n, given := body.OptionalInteger(name, LimitRule)
		if !given {
			return nil
		}
		return new(int(n))
	}
	t.Limit, t.CopilotLimit = limit("limit"), limit("copilotLimit")
	if t.Limit == nil && t.CopilotLimit == nil {
		body.Require("limit", "copilotLimit")
	}
	if text, given := body.OptionalText("expiresAt", value.Time); given {
		at := value.ParseTime(text)
		if at.Year() > 9999 {
			// A zone can carry a time into a year of five digits, which RFC 3339 cannot write.
			body.Fault("expiresAt", "format", "must not be after the year 9999 in UTC")
		}
		t.ExpiresAt = new(at.Truncate(time.Millisecond))
	}
	t.Reason, _ = body.OptionalText("reason", ReasonRule)
	return t
}
