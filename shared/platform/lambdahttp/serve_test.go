package lambdahttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A bench runs one operation in this process, with its log and metrics.
type bench struct {
	env          lambdahttp.Env
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

// event is what API Gateway sends for a GET of a rollout.
func event() events.APIGatewayProxyRequest {
	return events.APIGatewayProxyRequest{
		Resource: "/api/ota/rollouts/{id}", Path: "/api/ota/rollouts/r-1", HTTPMethod: http.MethodGet,
		PathParameters:    map[string]string{"id": "r-1"},
		MultiValueHeaders: map[string][]string{"Authorization": {"Bearer secret-token"}},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: "req-1", Path: "/prod/api/ota/rollouts/r-1", Stage: "prod",
			Identity: events.APIGatewayRequestIdentity{SourceIP: "192.0.2.7"}, Authorizer: map[string]any{"userId": "olga"},
		},
	}
}

func (b *bench) call(t *testing.T, e events.APIGatewayProxyRequest, handle lambdahttp.Handler) events.APIGatewayProxyResponse {
	t.Helper()
	res, err := lambdahttp.New(lambdahttp.Spec{ID: "get-rollout"}, b.env, handle)(t.Context(), e)
	expect.Must(t, err == nil, "the function failed: %v", err)
	return res
}

func answers(body any) lambdahttp.Handler {
	return func(*lambdahttp.Call) (lambdahttp.Answer, error) { return lambdahttp.OK(body, `"3"`), nil }
}

// refused checks an answer that must be a problem document, and returns the document.
func refused(t *testing.T, res events.APIGatewayProxyResponse, status int, code problem.Code) problem.Document {
	t.Helper()
	var d problem.Document
	err := json.Unmarshal([]byte(res.Body), &d)
	expect.Must(t, err == nil, "the body is not a problem document: %v: %s", err, res.Body)
	expect.Must(t, res.StatusCode == status && d.Status == status && d.Code == code && d.Type == code.Type() &&
		d.RequestID == "req-1" && d.Instance == "/prod/api/ota/rollouts/r-1" && d.Title != "" && d.Detail != "",
		"got %d %+v, want %d %s", res.StatusCode, d, status, code)
	got := res.MultiValueHeaders["Content-Type"]
	expect.Must(t, len(got) == 1 && got[0] == problem.ContentType, "content type %q", got)
	return d
}

func TestCall_IsAnsweredWithTheResource(t *testing.T) {
	b := newBench()
	res := b.call(t, event(), func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		if c.Authorizer["userId"] != "olga" || c.SourceIP != "192.0.2.7" || c.RequestID != "req-1" || c.Request.PathValue("id") != "r-1" {
			t.Errorf("the call is %+v", c)
		}
		expect.Equal(t, c.Href("/api/ota/rollouts/r-2"), "/prod/api/ota/rollouts/r-2", "a path in the answer is")
		return lambdahttp.OK(map[string]string{"id": "r-1"}, `"3"`), nil
	})
	expect.Must(t, res.StatusCode == 200 && res.Body == `{"id":"r-1"}` && res.MultiValueHeaders["Etag"][0] == `"3"` &&
		res.MultiValueHeaders["Cache-Control"][0] == "private, no-cache", "got %+v", res)
}

func TestCall_WithTheCurrentEntityTag_Is304WithoutABody(t *testing.T) {
	e := event()
	e.MultiValueHeaders["If-None-Match"] = []string{`W/"2", "3"`}
	res := newBench().call(t, e, answers("x"))
	if res.StatusCode != http.StatusNotModified || res.Body != "" || res.MultiValueHeaders["Etag"][0] != `"3"` {
		t.Fatalf("got %+v", res)
	}
}

func TestCall_InternalError_DoesNotShowItsCause(t *testing.T) {
	faults := map[string]lambdahttp.Handler{
		"an error": func(*lambdahttp.Call) (lambdahttp.Answer, error) {
			return lambdahttp.Answer{}, errors.New("table wavegate-secret is gone")
		},
		"a panic": func(*lambdahttp.Call) (lambdahttp.Answer, error) { panic("wavegate-secret") },
		"a nil map": func(*lambdahttp.Call) (lambdahttp.Answer, error) {
			var m map[string]int
			m["wavegate-secret"] = 1
			return lambdahttp.Answer{}, nil
		},
		"a value that cannot be encoded": answers(map[string]any{"wavegate-secret": func() {}}),
		"a code with a cause": func(*lambdahttp.Call) (lambdahttp.Answer, error) {
			return lambdahttp.Answer{}, problem.Wrap(errors.New("wavegate-secret"), problem.Internal, "The service failed.")
		},
	}
	for name, handle := range faults {
		b := newBench()
		res := b.call(t, event(), handle)
		refused(t, res, http.StatusInternalServerError, problem.Internal)
		expect.That(t, !strings.Contains(res.Body, "secret") && !strings.Contains(res.Body, "goroutine"),
			"%s: the answer shows the cause: %s", name, res.Body)
		if !strings.Contains(b.log.String(), `"level":"ERROR"`) || !strings.Contains(b.metrics.String(), `"Failures":1`) {
			t.Errorf("%s: log %s metrics %s", name, b.log.String(), b.metrics.String())
		}
	}
}

func TestCall_BrokenEvent_IsAProblem(t *testing.T) {
	e := event()
	e.Body, e.IsBase64Encoded = "%%%", true
	refused(t, newBench().call(t, e, answers("x")), http.StatusBadRequest, problem.ValidationFailed)
}

func TestCall_UnusualPath_ReachesTheHandlerUnchanged(t *testing.T) {
	for _, id := range []string{"..", "a%2Fb", "a b", "%zz", "?x=1", "#", "%00"} {
		e := event()
		e.Path = "/api/ota/rollouts/" + id
		e.PathParameters["id"] = id
		res := newBench().call(t, e, func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
			return lambdahttp.OK(c.Request.PathValue("id"), ""), nil
		})
		var got string
		err := json.Unmarshal([]byte(res.Body), &got)
		expect.That(t, err == nil && got == id && res.StatusCode == 200, "%q: got %d %s", id, res.StatusCode, res.Body)
	}
}

func TestCall_LogLine_NamesTheCallAndHasNoSecret(t *testing.T) {
	b := newBench()
	e := event()
	e.Body = `{"name":"private-body"}`
	b.call(t, e, func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		c.Attributes = []slog.Attr{slog.String("userId", "olga")}
		return lambdahttp.OK("x", ""), nil
	})
	n := strings.Count(b.log.String(), "\n")
	expect.Must(t, n == 1, "%d lines: %s", n, b.log.String())
	var line map[string]any
	expect.OK(t, json.Unmarshal(b.log.Bytes(), &line))
	want := map[string]any{"operation": "get-rollout", "status": 200.0, "userId": "olga",
		"coldStart": true, "gatewayRequestId": "req-1"}
	for k, v := range want {
		expect.Equal(t, line[k], v, "%s is", k)
	}
	expect.That(t, !strings.Contains(b.log.String(), "secret-token") && !strings.Contains(b.log.String(), "private-body"),
		"the line holds a secret: %s", b.log.String())
	var metrics map[string]any
	if err := json.Unmarshal(b.metrics.Bytes(), &metrics); err != nil || metrics["Calls"] != 1.0 || metrics["operation"] != "get-rollout" {
		t.Errorf("metrics %s, %v", b.metrics.String(), err)
	}
}

func TestCall_HandlersDeadline_IsBeforeTheFunctionsTimeout(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	outer, _ := ctx.Deadline()
	b := newBench()
	_, err := lambdahttp.New(lambdahttp.Spec{ID: "get-rollout"}, b.env, func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		inner, ok := c.Context().Deadline()
		expect.That(t, ok && inner.Before(outer), "the handler may run until %v, the function until %v", inner, outer)
		return lambdahttp.Empty(204), nil
	})(ctx, event())
	expect.OK(t, err)
}
