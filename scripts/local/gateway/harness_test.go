package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/local/runtime"
	"wavegate/shared/operations"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A fake is a function that records its events and gives the test's answers.
type fake struct {
	answer func(ctx context.Context, event []byte) ([]byte, error)

	mu     sync.Mutex
	events [][]byte
}

func (f *fake) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.mu.Lock()
	f.events = append(f.events, event)
	f.mu.Unlock()
	return f.answer(ctx, event)
}

func (f *fake) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.events)
}

func (f *fake) last(t *testing.T) map[string]any {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	expect.Must(t, len(f.events) != 0, "the function was not called")
	var e map[string]any
	expect.OK(t, json.Unmarshal(f.events[len(f.events)-1], &e))
	return e
}

func answers(text string) func(context.Context, []byte) ([]byte, error) {
	return func(context.Context, []byte) ([]byte, error) { return []byte(text), nil }
}

func fails(err error) func(context.Context, []byte) ([]byte, error) {
	return func(context.Context, []byte) ([]byte, error) { return nil, err }
}

const (
	okAnswer    = `{"statusCode":200,"headers":{},"multiValueHeaders":{},"body":"{}","isBase64Encoded":false}`
	allowAnswer = `{"principalId":"ann","policyDocument":{"Version":"2012-10-17","Statement":[{"Action":["execute-api:Invoke"],` +
		`"Effect":"Allow","Resource":["arn:aws:execute-api:eu-central-1:000000000000:localgate1/prod/*"]}]},` +
		`"context":{"userId":"ann","exp":"1790000000","number":7,"truth":true,"nothing":null}}`
	denyAnswer = `{"principalId":"nobody","policyDocument":{"Version":"2012-10-17","Statement":[{"Action":"execute-api:Invoke",` +
		`"Effect":"Deny","Resource":"*"}]}}`
)

type world struct {
	*Gateway
	address    string
	function   *fake
	authorizer *fake
	now        time.Time
	accesses   chan Access
}

// routes are the operations of the world. One function answers all of them.
var routes = []operations.Operation{
	{ID: "get-machine", Method: "GET", Path: "/api/factories/{factoryId}/machines/{code}"},
	{ID: "put-machine", Method: "PUT", Path: "/api/factories/{factoryId}/machines/{code}"},
	{ID: "get-special", Method: "GET", Path: "/api/factories/{factoryId}/machines/special"},
	{ID: "list-factories", Method: "GET", Path: "/api/factories"},
	{ID: "copilot", Method: operations.Any, Path: "/api/copilot/{proxy+}"},
}

func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	w := &world{
		function:   &fake{answer: answers(okAnswer)},
		authorizer: &fake{answer: answers(allowAnswer)},
		now:        time.Date(2026, 7, 1, 12, 34, 56, 789e6, time.FixedZone("", 7200)),
		accesses:   make(chan Access, 1000),
	}
	o := Options{
		Operations: routes,
		Functions:  func(string) Invoker { return w.function },
		Authorizer: w.authorizer,
		Now:        func() time.Time { return w.now },
		Access:     func(a Access) { w.accesses <- a },
	}
	for _, c := range change {
		c(&o)
	}
	w.Gateway = New(o)
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	w.address = l.Addr().String()
	server := &http.Server{ReadHeaderTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- w.Serve(server, l) }()
	t.Cleanup(func() {
		server.Close()
		err := <-done
		expect.That(t, errors.Is(err, http.ErrServerClosed), "%v", err)
	})
	return w
}

// raw sends a request without a body byte by byte, because HTTP clients clean paths and change headers. It adds the header
// Host. It adds Authorization unless the request has it or says "No-Token".
func (w *world) raw(t *testing.T, requestLine string, headers ...string) reply {
	t.Helper()
	return w.send(t, requestLine, "", headers...)
}

// send is raw with a body.
func (w *world) send(t *testing.T, requestLine, body string, headers ...string) reply {
	t.Helper()
	conn, err := net.Dial("tcp", w.address)
	expect.OK(t, err)
	defer conn.Close()
	all := strings.ToLower(strings.Join(headers, "\r\n"))
	if !strings.Contains(all, "no-token") && !strings.Contains(all, "authorization:") {
		headers = append(headers, "Authorization: Bearer good")
	}
	if body != "" {
		headers = append(headers, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n%s", requestLine, w.address, strings.Join(headers, "\r\n"), body)
	expect.OK(t, err)
	method, _, _ := strings.Cut(requestLine, " ")
	res := expect.Value(http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method}))(t)
	defer res.Body.Close()
	text := expect.Value(io.ReadAll(res.Body))(t)
	select {
	case a := <-w.accesses:
		return reply{res.StatusCode, res.Header, string(text), a}
	case <-time.After(10 * time.Second):
		t.Fatalf("%s was not answered by the gateway but by net/http: %d %s", requestLine, res.StatusCode, text)
		return reply{}
	}
}

// answered is the reply to a call of a function that gives the answer.
func answered(t *testing.T, answer string) reply {
	t.Helper()
	w := newWorld(t)
	w.function.answer = answers(answer)
	return w.raw(t, "GET "+somewhere)
}

type reply struct {
	status int
	header http.Header
	body   string
	access Access
}

// is checks one of the gateway's own answers, including its whole body.
func (r reply) is(t *testing.T, response string, status int) {
	t.Helper()
	expect.Must(t, r.access.Response == response && r.status == status,
		"%d by %q (%v), want %d by %s: %s", r.status, r.access.Response, r.access.Cause, status, response, r.body)
	var doc problem.Document
	err := json.Unmarshal([]byte(r.body), &doc)
	expect.Must(t, err == nil, "%v: %s", err, r.body)
	g := problem.GatewayResponseOf(response)
	want := problem.New(g.Code, "%s", g.Detail).Document(r.access.Path, r.access.RequestID)
	expect.Equal(t, doc, want, "the document")
	expect.Equal(t, r.header.Get("Content-Type"), problem.ContentType, "Content-Type")
	for name := range lambdahttp.SecurityHeaders() {
		got, want := r.header.Get(name), lambdahttp.SecurityHeaders().Get(name)
		expect.That(t, got == want, "%s is %q, want %q", name, got, want)
	}
	id := r.header.Get("X-Amzn-Requestid")
	expect.That(t, id == r.access.RequestID, "x-amzn-RequestId %q, in the document %q", id, r.access.RequestID)
	if want := g.Code == problem.Unauthenticated; (r.header.Get("WWW-Authenticate") == "Bearer") != want {
		t.Errorf("WWW-Authenticate %q", r.header.Get("WWW-Authenticate"))
	}
}

var errUnauthorized = &runtime.FunctionError{Type: "errorString", Message: "Unauthorized"}
