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

// margin is kept of a function's time to answer that the time is over: without it the gateway would
// answer, and the log would not say why.
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
	op     operations.Operation
	env    Env
	handle Handler
	cold   atomic.Bool
	// origins are those whose pages may read answers.
	origins []string
	// sampler is set for operations whose successes are logged by sample.
	sampler *sampler
}

// invoke answers one event. httpadapter carries body, headers and query over to net/http; the path is
// matched by API Gateway already, and its parameters are taken from the event as they are, so that
// no normalisation of net/http can bend them.
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
		// The event could not be turned into a request: its base64 body or its method is broken.
		line.fail(err)
		res, err = s.unreadable(ctx, event, err)
	}
	line.end(ctx, res.StatusCode)
	return res, err
}

// unreadable answers an event that is no request.
func (s *server) unreadable(ctx context.Context, event events.APIGatewayProxyRequest, cause error) (events.APIGatewayProxyResponse, error) {
	p := problem.Wrap(cause, problem.ValidationFailed, "The request could not be read.")
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		secure(w.Header())
		writeProblem(w, p, asked(event), event.RequestContext.RequestID)
	})
	return httpadapter.New(answer).ProxyWithContext(ctx, events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: "/"})
}

// serve takes a request through every step and writes one answer, whatever happens.
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
		// The gateway's cache of the authorizer's answer can outlive the token.
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

// admitted runs the handler beside the limiter. The answer waits for both, and the limiter's refusal
// is the last word: it ends what the handler reads, and the handler has written nothing, since its
// writes wait for the limiter as well. A refusal that the container remembers comes before the handler. The
// role is checked beside the limiter too: a flood of forbidden calls counts.
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
		class = operations.Ordinary // the reserve is for calls that can do something
	}
	word, ctx, cancel := s.ask(call, class)
	defer cancel()
	if word.Refused() || s.op.Limit == operations.Copilot {
		// What is forwarded cannot be taken back, so nothing of it runs before the call is admitted.
		if err := word.Wait(); err != nil {
			return Answer{}, word.Header(), err
		}
	}
	call.Request = call.Request.WithContext(word.Context(ctx))
	a, err := answer()
	if refusal := word.Wait(); refusal != nil {
		return Answer{}, word.Header(), refusal
	}
	return a, word.Header(), err
}

// ask asks for the limiter's word on a call. The context ends when the word is a refusal.
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

// guard turns a panic into an error, so that a fault in one call ends neither the process nor leaves
// the caller without an answer.
func guard(run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("lambdahttp: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return run()
}

// forbidden does not say who else may: only that the caller may not.
func forbidden(op operations.Operation) error {
	return problem.New(problem.Forbidden, "Your roles do not allow the operation %s.", op.ID)
}
