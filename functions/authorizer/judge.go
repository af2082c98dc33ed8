package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/access/token"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/telemetry"
)

// operation is the authorizer's name in logs and metrics.
const operation = "authorizer"

// These classes of a verdict add to those of package token.
const (
	accepted token.RefusalReason = "accepted"
	noToken  token.RefusalReason = "no-token" // no Authorization header with one token of a known scheme
	noBox    token.RefusalReason = "no-box"   // a DDI client sent a person's token
	noStore  token.RefusalReason = "no-store" // the token hashes could not be read
	badEvent token.RefusalReason = "event"    // not an event of a REST API
	fault    token.RefusalReason = "fault"    // a fault of ours
)

// A verdict is the result for one call.
type verdict struct {
	class         token.RefusalReason
	mayBecomeGood bool
	principal     auth.Principal
	resource      []string // all methods and paths of the called stage, or of a box
	issuer        string   // empty if it is not in the settings
	cause         error    // for the log
}

func (a *authorizer) judge(ctx context.Context, event request) verdict {
	resource, ok := wholeAPI(event.MethodArn)
	if !ok {
		return verdict{class: badEvent, cause: errors.New("the method's ARN is not that of a REST API")}
	}
	values := authorizations(event)
	if len(values) > 1 {
		// The gateway caches an answer by one of the values. On its own, that value may be a good token.
		return verdict{class: token.SeveralTokens, mayBecomeGood: true}
	}
	scheme, raw, ok := boxtoken.Credentials(values)
	if !ok {
		return verdict{class: noToken}
	}
	var v verdict
	switch t, ours := boxtoken.Parse(raw); {
	case ours && t.Kind.ComesBy(scheme):
		v = a.judgeIssued(ctx, event, t)
	case scheme == boxtoken.GatewayToken:
		v = verdict{class: token.Malformed}
	default:
		v = a.judgeJWT(ctx, raw)
		if v.class == accepted && scheme == boxtoken.TargetToken && !v.principal.Has(auth.Edge) {
			v = verdict{class: noBox, issuer: v.issuer}
		}
	}
	if a.foreign && v.class == token.Malformed && scheme != boxtoken.Bearer {
		if t, of := foreignToken(event, scheme, raw); of != "" {
			v = a.judgeIssued(ctx, event, t)
			v.resource = []string{of, of + "/*"}
		}
	}
	if v.resource == nil {
		v.resource = []string{resource}
	}
	return v
}

// foreignToken reads a token of another form for the box in the path of a DDI client's call. The resource is the path of
// the box; empty: there is no such token. No valid tenant or box has a wildcard in its name.
func foreignToken(event request, scheme, raw string) (t boxtoken.Token, resource string) {
	tenant, _ := url.PathUnescape(event.PathParameters["tenant"])
	id, _ := url.PathUnescape(event.PathParameters["controllerId"])
	read := boxtoken.Foreign
	if scheme == boxtoken.GatewayToken {
		read = boxtoken.ForeignGateway
	}
	t, ok := read(id, raw)
	stage, path, named := strings.Cut(event.MethodArn, "/"+event.HTTPMethod+"/")
	before, rest, found := strings.Cut(path, "/controller/v1/")
	own, _, _ := strings.Cut(rest, "/") // as the ARN spells it, which may be another spelling than the parameter's
	same, _ := url.PathUnescape(own)
	if !ok || !named || !found || same != id || !input.Name.Accepts(tenant) || strings.ContainsAny(event.MethodArn, "*?") {
		return t, ""
	}
	return t, stage + "/*/" + before + "/controller/v1/" + own
}

// judgeIssued judges a box's or a gateway's token, or a code.
func (a *authorizer) judgeIssued(ctx context.Context, event request, t boxtoken.Token) verdict {
	p, ok, err := a.issued.verify(ctx, event, t)
	switch {
	case err != nil:
		return verdict{class: noStore, mayBecomeGood: true, cause: err}
	case !ok:
		// Whoever makes a box may use its token a moment before the service learns of it.
		return verdict{class: token.NotIssued, mayBecomeGood: true}
	}
	return verdict{class: accepted, principal: p, issuer: p.Issuer}
}

// judgeJWT judges the access token of an issuer.
func (a *authorizer) judgeJWT(ctx context.Context, raw string) verdict {
	p, err := a.verifier.Verify(ctx, raw)
	if r, ok := errors.AsType[*token.Refusal](err); ok {
		return verdict{class: r.Reason, mayBecomeGood: r.MayBecomeGood(), issuer: r.Issuer, cause: r.Unwrap()}
	}
	return verdict{class: accepted, principal: p, issuer: p.Issuer}
}

// wholeAPI returns the resource of all methods and paths of a stage, from a method's ARN,
// arn:aws:execute-api:region:account:api/stage/METHOD/path.
func wholeAPI(methodARN string) (string, bool) {
	parts := strings.SplitN(methodARN, "/", 3)
	if len(parts) < 3 || parts[1] == "" || !strings.HasPrefix(parts[0], "arn:") || strings.Count(parts[0], ":") != 5 {
		return "", false
	}
	return parts[0] + "/" + parts[1] + "/*", true
}

// authorizations are the values of the call's Authorization headers.
func authorizations(event request) (values []string) {
	for name, all := range event.MultiValueHeaders {
		if strings.EqualFold(name, "Authorization") {
			values = append(values, all...)
		}
	}
	if event.MultiValueHeaders == nil {
		for name, value := range event.Headers {
			if strings.EqualFold(name, "Authorization") {
				values = append(values, value)
			}
		}
	}
	return values
}

// wholeRefusals is how many refusals a container writes before it writes a sample, one of sampledRefusals: whoever floods the service with
// tokens must not decide what its logs cost. Metrics count each.
const wholeRefusals, sampledRefusals = 100, 100

// report writes the call's log line and, for a refusal, its metric. Only the log contains the
// cause, and nothing contains the token. A refusal is the caller's fault, so it is not logged as
// an error.
func (a *authorizer) report(ctx context.Context, event request, v verdict, took time.Duration) {
	attributes := []slog.Attr{
		slog.String("operation", operation),
		slog.String("outcome", string(v.class)),
		slog.Float64("durationMs", float64(took.Microseconds())/1000),
		slog.String("gatewayRequestId", event.RequestContext.RequestID),
	}
	if v.issuer != "" {
		attributes = append(attributes, slog.String("issuer", v.issuer))
	}
	if v.cause != nil {
		attributes = append(attributes, slog.String("cause", v.cause.Error()))
	}
	level := slog.LevelInfo
	if v.class == fault || v.class == badEvent {
		level = slog.LevelError
	}
	if n := a.refusals(v.class); level == slog.LevelError || n <= wholeRefusals || n%sampledRefusals == 0 {
		a.log.LogAttrs(ctx, level, "call", attributes...)
	}
	if v.class != accepted {
		metrics := []telemetry.Metric{telemetry.One("TokenRefusals")}
		if slices.Contains(token.Strangers, v.class) {
			metrics = append(metrics, telemetry.One("StrangersTokens")) // the alarm on the authorizer's errors leaves these out
		}
		telemetry.Emit(a.metrics, a.now(), map[string]string{"operation": operation, "reason": string(v.class)}, metrics...)
	}
}

// refusals counts a refusal, and returns how many there were; 0 for an accepted token.
func (a *authorizer) refusals(class token.RefusalReason) int64 {
	if class == accepted {
		return 0
	}
	return a.refused.Add(1)
}
