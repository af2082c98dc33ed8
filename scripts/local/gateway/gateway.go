// Package gateway plays API Gateway: it takes HTTP requests, asks the authorizer, hands functions
// the events of a REST API's Lambda proxy integration and turns their answers back into HTTP. It
// routes by the service's table of operations and gives by itself the answers that the deployed
// gateway gives.
//
// What it does not play: the gateway's own throttle, request validators, caching, and the bound of
// 10,240 bytes on a request's headers (the authorizer bounds tokens by itself).
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	// MaxBody is the largest body that API Gateway takes, in bytes.
	MaxBody = 10 << 20
	// IntegrationTimeout is how long API Gateway waits for a function.
	IntegrationTimeout = 29 * time.Second
)

// Options say what the gateway serves.
type Options struct {
	Operations []operations.Operation
	// Functions gives each operation's function.
	Functions  func(operation string) Invoker
	Authorizer Invoker
	// Prefix is the path under which the API lies, such as /prod on a stage's default URL; empty where
	// a domain of its own is mapped to it.
	Prefix string
	// Origins are those whose pages may call from a browser: the gateway answers their preflight requests.
	// Its own answers may be read by the only origin or, where there are several, by any, as in the stack.
	Origins []string
	// Docs answers operations.DocsPaths, without a token; nil: there are no such paths.
	Docs Invoker
	// Console answers operations.ConsolePaths, without a token; nil: there are no such paths.
	Console Invoker
	// Login answers operations.LoginPath, without a token; nil: there is no such path.
	Login Invoker
	// IntegrationTimeout replaces the constant of that name; for tests.
	IntegrationTimeout time.Duration
	// Now replaces the clock; for tests.
	Now func() time.Time
	// Access is called after each answer.
	Access func(Access)
}

// An Access tells what became of a request.
type Access struct {
	Method, Path, RequestID string
	// Operation is empty where no route was found.
	Operation string
	Status    int
	Duration  time.Duration
	// Response is the type of the gateway's own answer; empty where a function answered.
	Response string
	// Cause says why the gateway answered by itself, where that is not plain from the response.
	Cause error
}

// A Gateway is an http.Handler. It must not stand behind an http.ServeMux, which cleans paths.
type Gateway struct {
	routes     table
	origins    []string
	authorizer *authorizer
	prefix     string
	stage      string
	timeout    time.Duration
	now        func() time.Time
	access     func(Access)
}

// New makes a gateway.
func New(o Options) *Gateway {
	g := &Gateway{
		routes:  newTable(o),
		origins: o.Origins,
		prefix:  strings.TrimSuffix(o.Prefix, "/"),
		stage:   "prod",
		timeout: o.IntegrationTimeout,
		now:     o.Now,
		access:  o.Access,
	}
	if g.prefix != "" {
		g.stage = strings.TrimPrefix(g.prefix, "/")
	}
	if g.timeout == 0 {
		g.timeout = IntegrationTimeout
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

// Forget drops the authorizer's remembered answers.
func (g *Gateway) Forget() { g.authorizer.forget() }

// Serve answers on the listener until the server is closed.
func (g *Gateway) Serve(server *http.Server, l net.Listener) error {
	server.Handler = g
	server.DisableGeneralOptionsHandler = true // "OPTIONS *" is an unknown route like any other
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

// sentPath is the path as it stood in the request line.
func sentPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") { // a whole URL, as sent to a proxy
		return r.URL.EscapedPath()
	}
	return path
}

// methodNotAllowed is what Access calls the answer to a method that a path does not have.
const methodNotAllowed = "METHOD_NOT_ALLOWED"

// An exchange is one request on its way.
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

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return x.own("REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge, nil)
	} else if err != nil {
		return x.own("DEFAULT_4XX", http.StatusBadRequest, err)
	}

	// A caller that leaves does not end what it set off.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), g.timeout)
	defer cancel()
	e := newEvent(r, x.context, to, path, parameters, body)
	x.trace = traceOf(e)
	if to.open {
		return x.call(ctx, to.function, e)
	}
	values, refused, cause := g.authorizer.authorize(ctx, r.Header.Get("Authorization"), e.forAuthorizer(g.methodArn(r.Method, path)))
	if refused != allowed {
		return x.own(refused, http.StatusInternalServerError, cause)
	}
	e.RequestContext.Authorizer = values
	return x.call(ctx, to.function, e)
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
	// Lambda reports a function's own timeout as an error of the function. It is told apart here, since
	// the functions end in time by themselves and one that does not is worth its own answer.
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
