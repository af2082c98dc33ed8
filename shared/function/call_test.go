package function_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/access/auth"
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A bench runs one operation in this process, with its log and metrics.
type bench struct {
	env          lambdahttp.Env
	limiter      function.Limiter
	log, metrics bytes.Buffer
}

func newBench() *bench {
	b := &bench{}
	b.env = lambdahttp.Env{
		Now: func() time.Time { return noon }, Metrics: &b.metrics,
		Settings: setting.NewValues(setting.CORSOrigins, setting.LogSamplePolls),
		Log:      slog.New(slog.NewJSONHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	return b
}

// event is what API Gateway sends for a platform owner's GET of a rollout.
func event() events.APIGatewayProxyRequest {
	caller := auth.Principal{Issuer: "https://people.example", UserID: "olga", OrganizationID: "acme",
		Roles: []auth.Role{auth.PlatformOwner}, Expires: noon.Add(time.Hour)}
	return events.APIGatewayProxyRequest{
		Resource: "/api/ota/rollouts/{id}", Path: "/api/ota/rollouts/r-1", HTTPMethod: http.MethodGet,
		PathParameters:    map[string]string{"id": "r-1"},
		MultiValueHeaders: map[string][]string{"Authorization": {"Bearer secret-token"}},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: "req-1", Path: "/prod/api/ota/rollouts/r-1", Stage: "prod",
			Identity: events.APIGatewayRequestIdentity{SourceIP: "192.0.2.7"}, Authorizer: caller.Context(),
		},
	}
}

func (b *bench) call(t *testing.T, e events.APIGatewayProxyRequest, handle function.Handler[request]) events.APIGatewayProxyResponse {
	t.Helper()
	return b.callOf(t, "get-rollout", e, handle)
}

func (b *bench) callOf(t *testing.T, id string, e events.APIGatewayProxyRequest, handle function.Handler[request]) events.APIGatewayProxyResponse {
	t.Helper()
	res, err := b.run(t, id, e, handle)
	expect.Must(t, err == nil, "the function failed: %v", err)
	return res
}

func (b *bench) run(t *testing.T, id string, e events.APIGatewayProxyRequest, handle function.Handler[request]) (events.APIGatewayProxyResponse, error) {
	row := operations.Row[request]{Operation: table.Get(id), Read: func(in *input.Reader) request { return readAll(in, e.HTTPMethod != http.MethodGet) }}
	row.Takes = input.Takes{Conditions: true, IdempotencyKey: true}
	return lambdahttp.New(lambdahttp.Spec{ID: id}, b.env, function.New(row, b.limiter, b.env, handle))(t.Context(), e)
}

func answers(body any) function.Handler[request] {
	return func(*function.Call, request) (lambdahttp.Answer, error) { return lambdahttp.OK(body, `"3"`), nil }
}

// refused checks an answer that must be a problem document, and returns the document.
func refused(t *testing.T, res events.APIGatewayProxyResponse, status int, code problem.Code) problem.Document {
	t.Helper()
	var d problem.Document
	err := json.Unmarshal([]byte(res.Body), &d)
	expect.Must(t, err == nil, "the body is not a problem document: %v: %s", err, res.Body)
	if res.StatusCode != status || d.Status != status || d.Code != code || d.Type != code.Type() ||
		d.RequestID != "req-1" || d.Instance != "/prod/api/ota/rollouts/r-1" || d.Title == "" || d.Detail == "" {
		t.Fatalf("got %d %+v, want %d %s", res.StatusCode, d, status, code)
	}
	got := res.MultiValueHeaders["Content-Type"]
	expect.Must(t, len(got) == 1 && got[0] == problem.ContentType, "content type %q", got)
	return d
}

func TestCall_RoleIsMissing_IsForbiddenAndTheHandlerDoesNotRun(t *testing.T) {
	for _, role := range []auth.Role{auth.OrganizationAdmin, auth.ProductionEngineer, auth.Edge, auth.Member} {
		e := event()
		e.RequestContext.Authorizer["roles"] = string(role)
		b := newBench()
		res := b.call(t, e, func(*function.Call, request) (lambdahttp.Answer, error) {
			t.Errorf("%s: the handler ran", role)
			return lambdahttp.Answer{}, nil
		})
		refused(t, res, http.StatusForbidden, problem.Forbidden)
		expect.That(t, strings.Contains(b.log.String(), `"level":"WARN"`),
			"%s: the refused attempt is not in the log: %s", role, b.log.String())
	}
}

func TestCall_TokenExpiredSinceAuthorization_Is401(t *testing.T) {
	e := event()
	e.RequestContext.Authorizer["exp"] = "1772366370" // noon, with the leeway
	res := newBench().call(t, e, answers("x"))
	refused(t, res, http.StatusUnauthorized, problem.Unauthenticated)
	expect.Equal(t, res.MultiValueHeaders["Www-Authenticate"][0], "Bearer", "WWW-Authenticate is")
}

func TestCall_IdentityInAHeader_IsIgnored(t *testing.T) {
	e := event()
	e.MultiValueHeaders["X-GoLambdaProxy-ApiGw-Context"] = []string{`{"authorizer":{"userId":"eve","issuer":"x","exp":"9999999999","roles":"platform_owner"}}`}
	e.RequestContext.Authorizer = nil
	refused(t, newBench().call(t, e, answers("x")), http.StatusUnauthorized, problem.Unauthenticated)
}

func TestCall_LogLine_NamesTheCaller(t *testing.T) {
	b := newBench()
	b.call(t, event(), answers("x"))
	for _, want := range []string{`"userId":"olga"`, `"issuer":"https://people.example"`, `"organizationId":"acme"`} {
		expect.That(t, strings.Contains(b.log.String(), want), "the line %s has no %s", b.log.String(), want)
	}
}
