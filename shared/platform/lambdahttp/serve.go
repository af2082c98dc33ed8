package lambdahttp

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"wavegate/shared/operations"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// margin is the part of a function's time in which it can still answer that the time is over.
// Without it, the gateway would answer, and the log would not show why.
const margin = 500 * time.Millisecond

// New makes the function of an operation.
func New(op operations.Operation, env Env, handle Handler) Function {
	s := &server{op: op, env: env, handle: handle, origins: Origins(env.Settings.Text(setting.CORSOrigins))}
	s.cold.Store(true)
	if op.Sampled {
		s.sampler = newSampler(env, op)
	}
	return s.invoke
}

type server struct {
	op      operations.Operation
	env     Env
	handle  Handler
	cold    atomic.Bool
	origins []string
	// sampler is set if the operation's successes are logged by sample.
	sampler *sampler
}

// invoke answers one event. httpadapter turns body, headers and query into a net/http request.
// API Gateway has already matched the path. Its parameters come from the event, so net/http
// cannot change them.
func (s *server) invoke(ctx context.Context, event events.APIGatewayProxyRequest) (res events.APIGatewayProxyResponse, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	line := s.begin(event)
	adapter := httpadapter.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, event, line)
	}))
	adapted := event
	adapted.Path = "/"
	res, err = adapter.ProxyWithContext(ctx, adapted)
	if err != nil {
		// The event could not be turned into a request: its base64 body or its method is
		// malformed.
		line.fail(err)
		res, err = s.unreadable(ctx, event, err)
	}
	line.end(ctx, res.StatusCode)
	return res, err
}

func (s *server) unreadable(ctx context.Context, event events.APIGatewayProxyRequest, cause error) (events.APIGatewayProxyResponse, error) {
	p := problem.Wrap(cause, problem.ValidationFailed, "The request could not be read.")
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		secure(w.Header())
		writeProblem(w, p, asked(event), event.RequestContext.RequestID)
	})
	return httpadapter.New(answer).ProxyWithContext(ctx, events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: "/"})
}

// serve runs all steps for a request and always writes one answer.
func (s *server) serve(w http.ResponseWriter, r *http.Request, event events.APIGatewayProxyRequest, line *line) {
	instance, id := asked(event), event.RequestContext.RequestID
	secure(w.Header())
	share(w, r, s.origins)
	call, err := newCall(r, event)
	if s.op.MaxBody > 0 {
		call.BoundBody(s.op.MaxBody)
	}
	var answer Answer
	var header http.Header
	switch {
	case err != nil:
		err = problem.Wrap(err, problem.Unauthenticated, "The request carries no access token that is valid here.")
	case call.Caller.Expired(s.env.Now()):
		// The gateway may cache the authorizer's answer for longer than the token is valid.
		line.call(call)
		err = problem.New(problem.Unauthenticated, "The access token has expired.")
	default:
		line.call(call)
		answer, header, err = s.admitted(call)
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	if err == nil && answer.Serve != nil {
		err = guard(func() error { answer.Serve(w, r); return nil })
	} else if err == nil {
		err = answer.write(w, r)
	}
	if err != nil {
		p := problem.From(err)
		line.problem(p)
		writeProblem(w, p, instance, id)
		return
	}
	line.wait = answer.Wait
}

// admitted runs the handler in parallel with the limiter, and waits for both. A refusal by the
// limiter always wins. It ends the handler's reads, and the handler has written nothing, because
// its writes wait for the limiter too. If the container remembers the refusal, the handler does
// not run. The role is checked in parallel with the limiter too, so that forbidden calls count.
func (s *server) admitted(call *Call) (Answer, http.Header, error) {
	allowed := call.Caller.Has(s.op.Roles...)
	answer := func() (a Answer, err error) {
		err = guard(func() error {
			if !allowed {
				return forbidden(s.op)
			}
			a, err = s.handle(call)
			return err
		})
		return a, err
	}
	if s.env.Limiter == nil {
		a, err := answer()
		return a, nil, err
	}
	class := s.op.Limit
	if class == operations.Reserved && !allowed {
		class = operations.Ordinary // the reserve is only for callers with the right role
	}
	decision, ctx, cancel := s.ask(call, class)
	defer cancel()
	if decision.Refused() || s.op.Limit == operations.Copilot {
		// A forwarded call cannot be undone, so it waits until the call is admitted.
		if err := decision.Wait(); err != nil {
			return Answer{}, decision.Header(), err
		}
	}
	call.Request = call.Request.WithContext(decision.Context(ctx))
	a, err := answer()
	if refusal := decision.Wait(); refusal != nil {
		return Answer{}, decision.Header(), refusal
	}
	return a, decision.Header(), err
}

// ask asks the limiter to admit a call. The context ends if the call is refused.
func (s *server) ask(call *Call, class operations.LimitClass) (*admission.Admission, context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(call.Context())
	end := func() { cancel(nil) }
	var known http.Header
	err := guard(func() (err error) {
		known, err = s.env.Limiter.Recall(call.Caller, class)
		return err
	})
	if err != nil {
		return admission.Refuse(known, err), ctx, end
	}
	outer := call.Context()
	return admission.Ask(func() (header http.Header, err error) {
		err = guard(func() error {
			header, err = s.env.Limiter.Admit(outer, call.Caller, class)
			return err
		})
		if err != nil {
			cancel(err)
		}
		return header, err
	}), ctx, end
}

// guard turns a panic into an error, so that the process goes on and the caller gets an answer.
func guard(run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("lambdahttp: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return run()
}

// forbidden does not say which roles are allowed.
func forbidden(op operations.Operation) error {
	return problem.New(problem.Forbidden, "Your roles do not allow the operation %s.", op.ID)
}
