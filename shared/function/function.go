// Package function builds the function of an operation from the store's client, the fair-use
// limiter and package lambdahttp. It is the only package that knows all three.
package function

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/operations"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
	"wavegate/shared/ratelimit"
)

// Run is the main function of an operation. It makes the clients, calls wire, and serves calls
// until the process ends. It does not return.
func Run[T any](row operations.Row[T], wire func(lambdahttp.Env) Handler[T]) {
	p := NewProcess(row.Settings)
	answer := Answers(p, row, wire)
	p.Start()
	lambda.Start(answer)
}

// A Process has what the operations of one process share: clients, and what the limiter remembers.
type Process struct {
	Env     lambdahttp.Env
	limiter *ratelimit.Limiter
}

// NewProcess makes the clients of operations that read some settings.
func NewProcess(settings []setting.Name) *Process {
	client := dynamo.NewClient()
	return ProcessOf(lambdahttp.Env{
		DB: dynamo.Open(client, time.Now), API: client, Now: time.Now,
		Log: telemetry.Log(), Metrics: os.Stdout, Settings: setting.NewValues(settings...),
	})
}

// ProcessOf makes a Process of clients.
func ProcessOf(env lambdahttp.Env) *Process {
	settings := ratelimit.ReadSettings(env.Settings)
	return &Process{env, ratelimit.New(ratelimit.Config{
		Store: env.API, Limits: settings.Limits, Deadline: settings.Deadline, Clock: env.Now,
	})}
}

// Answers makes the function that answers an operation's calls.
func Answers[T any](p *Process, row operations.Row[T], wire func(lambdahttp.Env) Handler[T]) lambdahttp.Function {
	handler := wire(p.Env)
	row.Check(p.Env.Settings)
	return lambdahttp.New(spec(row.Operation), p.Env, New(row, fairUse{row.ID, p.Env, p.limiter}, p.Env, handler))
}

// Start ends the process if a setting is invalid. Otherwise it opens the limiter's connection while the function starts.
// Call it after all operations were made.
func (p *Process) Start() {
	p.Env.Start()
	go p.limiter.Warm(context.Background())
}

// spec is what package lambdahttp needs of a row. The copilot takes as long as the assistant, so it is never late.
func spec(op operations.Operation) lambdahttp.Spec {
	return lambdahttp.Spec{ID: op.ID, Takes: op.Takes, Sampled: op.Sampled, Timeout: op.Timeout,
		People: op.Limit != ratelimit.Copilot && !slices.Contains(op.Roles, auth.Edge)}
}

// A TaskFunc is what a scheduled function does.
type TaskFunc func(context.Context) error

// RunTask is Run for the function of a task. No limit counts a task.
func RunTask(row operations.Task, wire func(lambdahttp.Env) TaskFunc) {
	client := dynamo.NewClient()
	env := lambdahttp.Env{
		DB: dynamo.Open(client, time.Now), API: client, Now: time.Now,
		Log: telemetry.Log(), Metrics: os.Stdout, Settings: setting.NewValues(row.Settings...),
	}
	task := wire(env)
	env.Start()
	lambda.Start(func(ctx context.Context, event taskEvent) error {
		if event.SmokeTest {
			return dynamo.CheckForm(ctx, client, dynamo.Progress.Name())
		}
		return task(admission.Unlimited(ctx))
	})
}

// A taskEvent is what a task reads of its event. For the smoke test of a new version, it only starts, and looks whether
// it knows the form of the stored data.
type taskEvent struct {
	SmokeTest bool `json:"smokeTest"`
}

// LimiterFailOpen is the metric of calls that were admitted without being counted, because the
// limiter's store did not answer in time.
const LimiterFailOpen = "LimiterFailOpen"

// fairUse applies the limits to an operation's calls. It logs and counts the calls that the
// limiter could not check.
type fairUse struct {
	operation string
	env       lambdahttp.Env
	limiter   *ratelimit.Limiter
}

// Recall refuses a call if the container remembers that it would be refused.
func (f fairUse) Recall(caller auth.Principal, class ratelimit.Class) (http.Header, error) {
	d, refused := f.limiter.Recall(callerOf(caller), class)
	if !refused {
		return nil, nil
	}
	return d.Header(), d.Err()
}

// Admit counts a call.
func (f fairUse) Admit(ctx context.Context, caller auth.Principal, class ratelimit.Class) (http.Header, []time.Time, error) {
	of := callerOf(caller)
	d := f.admit(ctx, of, class)
	var calls []time.Time
	if of.Box {
		calls = d.Calls()
	}
	return d.Header(), calls, d.Err()
}

// Share counts a call for the boxes of an organization.
func (f fairUse) Share(ctx context.Context, caller auth.Principal, organization string, class ratelimit.Class) error {
	of := callerOf(caller)
	of.Organization, of.Shared = organization, true
	return f.admit(ctx, of, class).Err()
}

func (f fairUse) admit(ctx context.Context, caller ratelimit.Caller, class ratelimit.Class) ratelimit.Result {
	d := f.limiter.Admit(ctx, caller, class)
	if d.Unchecked != nil {
		f.env.Log.LogAttrs(ctx, slog.LevelWarn, "the call was not counted", slog.String("cause", d.Unchecked.Error()))
	}
	if d.Unchecked != nil && d.Outcome == ratelimit.Admitted {
		telemetry.Emit(f.env.Metrics, f.env.Now(), map[string]string{"operation": f.operation}, telemetry.One(LimiterFailOpen))
	}
	return d
}

func callerOf(p auth.Principal) ratelimit.Caller {
	gateway := boxtoken.KindOf(p) == boxtoken.Gateway
	return ratelimit.Caller{User: p.Counted(), Organization: p.OrganizationID, Box: p.Has(auth.Edge) && !gateway, Gateway: gateway}
}
