// Command authorizer is the REQUEST authorizer of the REST API. It turns the access token of a
// call into a principal. It only authenticates; each operation checks its own roles.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/access/token"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
	"wavegate/shared/trail/audit"
)

func main() {
	log := telemetry.Log()
	issuers, err := token.ParseIssuers(os.Getenv(token.Setting))
	if err != nil {
		log.Error("the authorizer cannot start", "operation", operation, "cause", err.Error())
		os.Exit(1)
	}
	db := dynamo.Open(dynamo.NewClient(), time.Now)
	tokens, enrolments := boxauth.NewTokens(db, boxauth.Issuers(strings.Join(token.Fleets(issuers), " "))), enrolment.NewStore(db)
	foreign := boxauth.ReadForeign(setting.NewValues(setting.ForeignTokens), tokens, func(ctx context.Context, from audit.Origin, edgeID string) error {
		return edge.Guess(ctx, db, from, edgeID)
	})
	verify := func(ctx context.Context, event request, t boxtoken.Token) (auth.Principal, bool, error) {
		switch {
		case t.Foreign:
			_, p, err := foreign.Enter(ctx, event.RequestContext.Identity.SourceIP, event.RequestContext.RequestID, t)
			if problem.Has(err, problem.NotFound) {
				err = nil
			}
			return p, p.UserID != "", err
		case t.Kind == boxtoken.Enrolment:
			return enrolments.Verify(ctx, t)
		}
		return tokens.Verify(ctx, t)
	}
	a := newAuthorizer(issuers, verify, time.Now, log, os.Stdout)
	a.foreign = foreign != nil
	lambda.Start(a.authorize)
}

type authorizer struct {
	verifier *token.Verifier
	issued   *issued
	foreign  bool // DDI clients may have tokens of another form
	now      func() time.Time
	log      *slog.Logger
	metrics  io.Writer
	refused  atomic.Int64 // tokens, since the container's start
}

func newAuthorizer(issuers []token.Issuer, tokens knows, now func() time.Time, log *slog.Logger, metrics io.Writer) *authorizer {
	a := &authorizer{issued: &issued{knows: tokens, now: now}, now: now, log: log, metrics: metrics}
	a.verifier = token.New(issuers, token.Options{Now: now, KeysFailed: a.keysFailed})
	return a
}

// These errors are never cached. API Gateway answers the first with 401, and recognises it by its text; any other with 503.
var (
	errUnauthorized = errors.New("Unauthorized")
	errUnavailable  = errors.New("Unavailable")
)

type (
	request  = events.APIGatewayCustomAuthorizerRequestTypeRequest
	response = events.APIGatewayCustomAuthorizerResponse
)

// authorize gives one of four answers, none of which shows the reason:
//
//   - Allow for the whole API, with the principal as context. API Gateway caches it per token, for
//     all methods. For a token of another form, Allow for the called box, which API Gateway caches per token and path.
//   - Deny for the whole API, for a token that can never become valid. API Gateway caches it too.
//   - The error Unauthorized, for a token that is not valid now and may become valid.
//   - The error Unavailable, if it is not known whether the token is valid. With 401, a box would ask for another token.
func (a *authorizer) authorize(ctx context.Context, event request) (answer response, err error) {
	start := a.now()
	var v verdict
	defer func() {
		if cause := recover(); cause != nil {
			v = verdict{class: fault, cause: fmt.Errorf("panic: %v\n%s", cause, debug.Stack())}
			answer, err = response{}, errUnavailable
		}
		a.report(ctx, event, v, a.now().Sub(start))
	}()
	v = a.judge(ctx, event)
	switch {
	case v.class == accepted:
		return policy("Allow", v.resource, v.principal.User(), v.principal.Context()), nil
	case v.class == noStore || v.class == token.KeysUnavailable:
		return response{}, errUnavailable
	case v.mayBecomeGood:
		return response{}, errUnauthorized
	default:
		return policy("Deny", []string{"*"}, "nobody", nil), nil
	}
}

// policy makes an answer. Its resource is the whole API and not only the called method, because
// API Gateway uses a cached answer for every method.
func policy(effect string, resources []string, principal string, values map[string]any) response {
	return response{
		PrincipalID: principal,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{
				Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: resources,
			}},
		},
		Context: values,
	}
}

func (a *authorizer) keysFailed(ctx context.Context, issuer string, err error) {
	a.log.ErrorContext(ctx, "an issuer's keys could not be fetched", "operation", operation, "issuer", issuer, "cause", err.Error())
	telemetry.Emit(a.metrics, a.now(), map[string]string{"operation": operation}, telemetry.One("KeyFetchFailures"))
}
