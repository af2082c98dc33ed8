// Package gateway simulates API Gateway. It takes HTTP requests, calls the authorizer, passes
// functions the events of a REST API's Lambda proxy integration, and turns their answers back
// into HTTP. It uses the service's table of operations for routing, and gives the same answers
// of its own as the deployed gateway.
//
// It does not simulate the gateway's throttle, request validators and caching.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"wavegate/scripts/local/runtime"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
)

// An Invoker calls a function. *runtime.Function is one.
type Invoker interface {
	Invoke(ctx context.Context, event []byte) ([]byte, error)
}

const (
	// MaxBody is the largest body that API Gateway accepts, in bytes.
	MaxBody = 10 << 20
	// MaxHeader is the most that API Gateway accepts for the headers, in bytes. Here it bounds the request line, too, and
	// net/http reads up to 4 KiB more before it refuses.
	MaxHeader = 10240
	// BodyTimeout is how long a body may take to arrive.
	BodyTimeout = 10 * time.Second
	// IntegrationTimeout is how long API Gateway waits for a function.
	IntegrationTimeout = 29 * time.Second
)

// Options configure a gateway.
type Options struct {
	Operations []operations.Operation
	// Functions gives each operation's function.
	Functions  func(operation string) Invoker
	Authorizer Invoker
	// DDIRoot adds the second paths of hawkBit's DDI; see operations.Operation.RootPath.
	DDIRoot bool
	// ForeignTokens makes the cache of the authorizer's answers to DDI clients depend on the path, too.
	ForeignTokens bool
	// Prefix is the path prefix of the API, such as /prod on a stage's default URL. It is empty
	// for a custom domain.
	Prefix string
	// Origins are the origins that are allowed to call from a browser. The gateway answers their preflight requests. As
	// in the stack, its own answers name the only origin, or allow any origin if there are several.
	Origins []string
	// Docs, if set, answers operations.DocsPaths, without a token.
	Docs Invoker
	// Console answers operations.ConsolePaths, without a token. Without it there are no such paths.
	Console Invoker
	// Login, if set, answers operations.LoginPath, without a token.
	Login Invoker
	// IntegrationTimeout replaces the constant of that name; for tests.
	IntegrationTimeout time.Duration
	// BodyTimeout replaces the constant of that name; for tests.
	BodyTimeout time.Duration
	// Now replaces the clock; for tests.
	Now func() time.Time
	// Access is called after each answer.
	Access func(Access)
}

// An Access is the result of a request, for a log.
type Access struct {
	Method, Path, RequestID string
	// Operation is empty if no route was found.
	Operation string
	Status    int
	Duration  time.Duration
	// Response is the type of the gateway's own answer; empty if a function answered.
	Response string
	// Cause says why the gateway answered itself, if the response does not show it.
	Cause error
}

// A Gateway is an http.Handler. Do not use it behind an http.ServeMux, which cleans paths.
type Gateway struct {
	routes     table
	origins    []string
	authorizer *authorizer
	prefix     string
	stage      string
	timeout    time.Duration
	arrives    time.Duration // the longest that a body may take
	now        func() time.Time
	access     func(Access)

	foreignTokens bool
}

// New makes a gateway.
func New(o Options) *Gateway {
	g := &Gateway{
		routes:  newTable(o),
		origins: o.Origins,
		prefix:  strings.TrimSuffix(o.Prefix, "/"),
		stage:   "prod",
		timeout: o.IntegrationTimeout,
		arrives: o.BodyTimeout,
		now:     o.Now,
		access:  o.Access,

		foreignTokens: o.ForeignTokens,
	}
	if g.prefix != "" {
		g.stage = strings.TrimPrefix(g.prefix, "/")
	}
	if g.timeout == 0 {
		g.timeout = IntegrationTimeout
	}
	if g.arrives == 0 {
		g.arrives = BodyTimeout
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.access == nil {
		g.access = func(Access) {}
	}
	g.authorizer = &authorizer{function: o.Authorizer, now: g.now}
	return g
}

// Forget clears the cache of the authorizer's answers.
func (g *Gateway) Forget() { g.authorizer.forget() }

// Serve answers on the listener until the server is closed.
func (g *Gateway) Serve(server *http.Server, l net.Listener) error {
	server.Handler = g
	server.MaxHeaderBytes = MaxHeader
	server.DisableGeneralOptionsHandler = true // "OPTIONS *" is treated as an unknown route
	return server.Serve(listener{l, g})
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	path := sentPath(r)
	c := g.newContext(r, path)
	x := exchange{gateway: g, request: r, context: c, path: path}
	p := x.answer(w)
	p.send(w, c, x.trace)
	g.access(Access{
		Method: r.Method, Path: path, RequestID: c.RequestID, Operation: x.operation, Status: p.status,
		Duration: time.Since(begin), Response: x.response, Cause: x.cause,
	})
}

// sentPath is the path in the request line.
func sentPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") { // a whole URL, as sent to a proxy
		return r.URL.EscapedPath()
	}
	return path
}

// methodNotAllowed is the Response of an Access for a method that a path does not have.
const methodNotAllowed = "METHOD_NOT_ALLOWED"

type exchange struct {
	gateway *Gateway
	request *http.Request
	context requestContext
	path    string

	operation string
	response  string
	cause     error
	trace     string
}

// answer follows API Gateway's order: the route, the body's size, the authorizer, the function.
func (x *exchange) answer(w http.ResponseWriter) parsedAnswer {
	g, r := x.gateway, x.request
	path, inside := strings.CutPrefix(x.path, g.prefix)
	if inside && r.Method == http.MethodOptions && len(g.origins) > 0 && g.routes.shared(path) {
		return preflight(g.origins, r.Header.Get("Origin"))
	}
	to, parameters, methods := g.routes.find(r.Method, path)
	switch {
	case !inside || !strings.HasPrefix(path, "/") || len(methods) == 0:
		return x.own("MISSING_AUTHENTICATION_TOKEN", http.StatusForbidden, nil)
	case !to.takes(r.Method):
		if len(g.origins) > 0 && g.routes.shared(path) {
			methods = append(methods, http.MethodOptions)
		}
		x.response = methodNotAllowed
		return own(problem.MethodNotAllowedResponse(methods), 0, x.context, g.origins)
	}
	x.operation = to.operation.ID

	body, err := g.body(w, r)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return x.own("REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge, nil)
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		return x.own("DEFAULT_4XX", http.StatusRequestTimeout, err)
	} else if err != nil {
		return x.own("DEFAULT_4XX", http.StatusBadRequest, err)
	}

	// The call continues if the caller leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), g.timeout)
	defer cancel()
	e := newEvent(r, x.context, to, path, parameters, body)
	x.trace = traceOf(e)
	if to.open {
		return x.call(ctx, to.function, e)
	}
	key := r.Header.Get("Authorization")
	if key != "" && g.foreignTokens && parameters["controllerId"] != "" {
		key += "\n" + e.RequestContext.Path
	}
	values, refused, cause := g.authorizer.authorize(ctx, key, e.forAuthorizer(g.methodArn(r.Method, path)))
	if refused != allowed {
		return x.own(refused, http.StatusInternalServerError, cause)
	}
	e.RequestContext.Authorizer = values
	return x.call(ctx, to.function, e)
}

// body reads a request's body, which must arrive in time.
func (g *Gateway) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(time.Now().Add(g.arrives)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		return nil, err // net/http closes the connection, and must not wait for the rest
	}
	return body, connection.SetReadDeadline(time.Time{})
}

func (x *exchange) call(ctx context.Context, function Invoker, e event) parsedAnswer {
	payload, err := json.Marshal(e)
	if err != nil {
		return x.own("DEFAULT_5XX", http.StatusInternalServerError, err)
	}
	raw, err := function.Invoke(ctx, payload)
	switch {
	case errors.Is(err, runtime.ErrEventTooLarge):
		return x.own("REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge, nil)
	// Lambda reports a function's own timeout as a function error. Here it has its own answer,
	// because functions should always end in time.
	case errors.Is(err, runtime.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return x.own("INTEGRATION_TIMEOUT", http.StatusGatewayTimeout, err)
	case err != nil:
		return x.own("INTEGRATION_FAILURE", http.StatusBadGateway, err)
	}
	p, err := parseAnswer(raw)
	if err != nil {
		return x.own("INTEGRATION_FAILURE", http.StatusBadGateway, err)
	}
	return p
}

func (x *exchange) own(response string, status int, cause error) parsedAnswer {
	x.response, x.cause = response, cause
	return own(problem.GatewayResponseOf(response), status, x.context, x.gateway.origins)
}

func (g *Gateway) methodArn(method, path string) string {
	return fmt.Sprintf("arn:aws:execute-api:%s:%s:%s/%s/%s/%s",
		runtime.Region, runtime.AccountID, apiID, g.stage, method, strings.TrimPrefix(path, "/"))
}

func traceOf(e event) string {
	for name, value := range e.Headers {
		if strings.EqualFold(name, "X-Amzn-Trace-Id") {
			return value
		}
	}
	return ""
}
