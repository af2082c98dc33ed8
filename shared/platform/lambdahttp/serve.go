package lambdahttp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// margin is the part of a function's time in which it can still answer that the time is over.
// Without it, the gateway would answer, and the log would not show why.
const margin = 500 * time.Millisecond

// New makes the function of an operation.
func New(op Spec, env Env, handle Handler) Function {
	s := &server{op: op, env: env, handle: handle, origins: Origins(env.Settings.Text(setting.CORSOrigins))}
	s.cold.Store(true)
	if op.Sampled {
		s.sampler = newSampler(env, op)
	}
	return s.invoke
}

type server struct {
	op      Spec
	env     Env
	handle  Handler
	cold    atomic.Bool
	origins []string
	// sampler is set if the operation's successes are logged by sample.
	sampler *sampler
}

// invoke answers one event. Proxy turns body, headers and query into a net/http request.
// API Gateway has already matched the path. Its parameters come from the event, so net/http
// cannot change them.
func (s *server) invoke(ctx context.Context, event events.APIGatewayProxyRequest) (res events.APIGatewayProxyResponse, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	line := s.begin(event)
	answer := Proxy(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, event, line)
	}))
	adapted := event
	adapted.Path = "/"
	res, err = answer(ctx, adapted)
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
	return Proxy(answer)(ctx, events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: "/"})
}

// serve runs all steps for a request and always writes one answer.
func (s *server) serve(w http.ResponseWriter, r *http.Request, event events.APIGatewayProxyRequest, line *line) {
	instance, id := asked(event), event.RequestContext.RequestID
	secure(w.Header())
	share(w, r, s.origins)
	call := newCall(r, event, s.op.Takes)
	line.call = call
	var answer Answer
	err := Recovered(func() (err error) {
		answer, err = s.handle(call)
		return err
	})
	maps.Copy(w.Header(), call.Header)
	if err == nil && answer.Serve != nil {
		err = Recovered(func() error { answer.Serve(w, r); return nil })
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

// Recovered turns a panic into an error, so that the process continues and the caller gets an answer.
func Recovered(run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("lambdahttp: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return run()
}
