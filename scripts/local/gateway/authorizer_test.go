package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/local/runtime"
	"wavegate/shared/access/auth"
	"wavegate/shared/testing/expect"
)

const somewhere = "/api/factories"

func TestAuthorizer_NoHeader_IsRefusedWithoutACall(t *testing.T) {
	w := newWorld(t)
	w.raw(t, "GET "+somewhere, "No-Token: 1").is(t, "UNAUTHORIZED", 401)
	w.raw(t, "GET "+somewhere, "Authorization:").is(t, "UNAUTHORIZED", 401)
	expect.Equal(t, w.authorizer.calls()+w.function.calls(), 0, "calls:")
}

func TestAuthorizer_Allow_IsCachedPerToken(t *testing.T) {
	w := newWorld(t)
	calls := func(after time.Duration, token string, want int) {
		t.Helper()
		w.now = w.now.Add(after)
		r := w.raw(t, "GET "+somewhere, "Authorization: "+token)
		expect.Must(t, r.status == 200, "%d %s", r.status, r.body)
		expect.Equal(t, w.authorizer.calls(), want, "calls of the authorizer:")
	}
	calls(0, "Bearer a", 1)
	calls(0, "Bearer b", 2)
	calls(auth.GatewayCache-time.Second, "Bearer a", 2)
	calls(time.Second, "Bearer a", 3)
	calls(0, "Bearer a", 3)
	// Another method and path use the same answer.
	r := w.raw(t, "PUT /api/factories/f/machines/m", "Authorization: Bearer a")
	expect.Equal(t, []int{r.status, w.authorizer.calls()}, []int{200, 3}, "the status, and the authorizer's calls:")
}

func TestAuthorizer_Deny_IsCached(t *testing.T) {
	w := newWorld(t)
	w.authorizer.answer = answers(denyAnswer)
	for range 3 {
		w.raw(t, "GET "+somewhere).is(t, "ACCESS_DENIED", 401)
	}
	expect.Equal(t, []int{w.authorizer.calls(), w.function.calls()}, []int{1, 0}, "calls of the authorizer, and of the function:")
}

func TestAuthorizer_ErrorUnauthorized_Is401AndNotCached(t *testing.T) {
	w := newWorld(t)
	w.authorizer.answer = fails(errUnauthorized)
	w.raw(t, "GET "+somewhere).is(t, "UNAUTHORIZED", 401)
	w.raw(t, "GET "+somewhere).is(t, "UNAUTHORIZED", 401)
	w.authorizer.answer = answers(allowAnswer)
	r := w.raw(t, "GET "+somewhere)
	expect.Equal(t, []int{r.status, w.authorizer.calls()}, []int{200, 3}, "the status, and the authorizer's calls:")
}

func TestAuthorizer_FailureOrMalformedAnswer_Is500AndNotCached(t *testing.T) {
	allow := `"policyDocument":{"Statement":[{"Action":"execute-api:Invoke","Effect":"Allow","Resource":"*"}]}`
	for name, answer := range map[string]func(context.Context, []byte) ([]byte, error){
		"another error":   fails(&runtime.FunctionError{Message: "unauthorized"}),
		"a crash":         fails(runtime.ErrCrashed),
		"a timeout":       fails(runtime.ErrTimeout),
		"no JSON":         answers("no"),
		"null":            answers("null"),
		"no principal":    answers("{" + allow + "}"),
		"no policy":       answers(`{"principalId":"a"}`),
		"a list as value": answers(`{"principalId":"a","context":{"roles":["x"]},` + allow + "}"),
		"a nested object": answers(`{"principalId":"a","context":{"who":{}},` + allow + "}"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.authorizer.answer = answer
			r := w.raw(t, "GET "+somewhere)
			r.is(t, "AUTHORIZER_FAILURE", 503)
			expect.Equal(t, r.access.Cause == nil, false, "the log has no cause:")
			expect.Equal(t, w.function.calls(), 0, "calls of the function:")
		})
	}
}

func TestAuthorizer_Forget_ClearsTheCache(t *testing.T) {
	w := newWorld(t)
	w.raw(t, "GET "+somewhere)
	w.Forget()
	w.raw(t, "GET "+somewhere)
	expect.Equal(t, w.authorizer.calls(), 2, "calls of the authorizer:")
}

func TestPolicy_IsEvaluatedForTheMethod(t *testing.T) {
	const arn = "arn:aws:execute-api:eu-central-1:000000000000:localgate1/prod/GET/api/factories/[x]"
	one := func(effect, action, resource string) statement {
		return statement{effect, stringOrList{action}, stringOrList{resource}}
	}
	const invoke = "execute-api:Invoke"
	for _, c := range []struct {
		name       string
		statements []statement
		allows     bool
	}{
		{"nothing", nil, false},
		{"everything", []statement{one("Allow", invoke, "*")}, true},
		{"the whole API", []statement{one("Allow", invoke, "arn:aws:execute-api:*:*:localgate1/*")}, true},
		{"the method", []statement{one("Allow", invoke, arn)}, true},
		{"by question mark", []statement{one("Allow", invoke, strings.Replace(arn, "[x]", "???", 1))}, true},
		{"too few question marks", []statement{one("Allow", invoke, strings.Replace(arn, "[x]", "??", 1))}, false},
		{"another method", []statement{one("Allow", invoke, strings.Replace(arn, "GET", "PUT", 1))}, false},
		{"any action", []statement{one("Allow", "execute-api:*", "*")}, true},
		{"another action", []statement{one("Allow", "execute-api:ManageConnections", "*")}, false},
		{"an allow and a deny", []statement{one("Allow", invoke, "*"), one("Deny", invoke, "*/GET/*")}, false},
		{"a deny of another", []statement{one("Allow", invoke, "*"), one("Deny", invoke, "*/PUT/*")}, true},
		{"one of several", []statement{{"Allow", stringOrList{"a:b", invoke}, stringOrList{"x", "*/api/factories/*"}}}, true},
		{"an unknown effect", []statement{one("allow", invoke, "*")}, false},
	} {
		expect.Equal(t, (policy{c.statements}).allows(arn), c.allows, "%s:", c.name)
	}
}

func TestFunction_EachWayToFail_HasItsAnswer(t *testing.T) {
	for _, c := range []struct {
		err      error
		response string
		status   int
	}{
		{fmt.Errorf("%w of 10s", runtime.ErrTimeout), "INTEGRATION_TIMEOUT", 504},
		{fmt.Errorf("%w: exit status 2", runtime.ErrCrashed), "INTEGRATION_FAILURE", 502},
		{&runtime.FunctionError{Type: "errorString", Message: "the cause"}, "INTEGRATION_FAILURE", 502},
		{runtime.ErrAnswerTooLarge, "INTEGRATION_FAILURE", 502},
		{runtime.ErrEventTooLarge, "REQUEST_TOO_LARGE", 413},
		{errors.New("anything else"), "INTEGRATION_FAILURE", 502},
	} {
		w := newWorld(t)
		w.function.answer = fails(c.err)
		r := w.raw(t, "GET "+somewhere)
		r.is(t, c.response, c.status)
		expect.That(t, !strings.Contains(r.body, "the cause"), "the cause left the gateway: %s", r.body)
	}
}
