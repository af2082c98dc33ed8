package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/platform/telemetry"
)

// operation is the authorizer's name in logs and metrics.
const operation = "authorizer"

// These classes of a verdict add to those of package token.
const (
	accepted token.Class = "accepted"
	noToken  token.Class = "no-token" // not exactly one Authorization header with one bearer token
	badEvent token.Class = "event"    // not an event of a REST API
	fault    token.Class = "fault"    // a fault of ours
)

// A verdict is the result for one call.
type verdict struct {
	class         token.Class
	mayBecomeGood bool
	principal     auth.Principal
	resource      string // all methods and paths of the called stage
	issuer        string // empty if it is not in the settings
	cause         error  // for the log
}

func (a *authorizer) judge(ctx context.Context, event request) verdict {
	resource, ok := wholeAPI(event.MethodArn)
	if !ok {
		return verdict{class: badEvent, cause: errors.New("the method's ARN is of no REST API")}
	}
	raw, ok := bearer(event)
	if !ok {
		return verdict{class: noToken}
	}
	p, err := a.verifier.Verify(ctx, raw)
	if r, ok := errors.AsType[*token.Refusal](err); ok {
		return verdict{class: r.Class, mayBecomeGood: r.MayBecomeGood(), issuer: r.Issuer, cause: r.Unwrap()}
	}
	return verdict{class: accepted, principal: p, resource: resource, issuer: p.Issuer}
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

// bearer returns the token of the call's one Authorization header (RFC 6750 §2.1; the scheme's case
// does not matter, RFC 9110 §11.1). Two of them are none: which one another reader would choose is
// not known.
func bearer(event request) (string, bool) {
	var values []string
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
	if len(values) != 1 {
		return "", false
	}
	scheme, raw, _ := strings.Cut(strings.Trim(values[0], " \t"), " ")
	raw = strings.TrimLeft(raw, " ")
	if !strings.EqualFold(scheme, "Bearer") || raw == "" {
		return "", false
	}
	return raw, true
}

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
	a.log.LogAttrs(ctx, level, "call", attributes...)
	if v.class != accepted {
		dimensions := map[string]string{"operation": operation, "reason": string(v.class)}
		telemetry.Emit(a.metrics, a.now(), dimensions, telemetry.One("TokenRefusals"))
	}
}
