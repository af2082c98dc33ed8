// Package function wires the function of an operation: the store's client, the fair-use limiter and the
// way in and out. It is the one place that knows all three.
package function

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/operations"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
)

// Run is the main function of an operation's function: it makes the clients once, wires the handler
// and serves calls until the process is ended. It does not return.
func Run(id string, wire func(lambdahttp.Env) lambdahttp.Handler) {
	op, client := operations.Get(id), dynamo.NewClient()
	env := lambdahttp.Env{
		DB: dynamo.Open(client, time.Now), API: client, Now: time.Now,
		Log: lambdacontext.NewLogger(), Metrics: os.Stdout, Settings: setting.NewReader(op.Settings...),
	}
	settings := ratelimit.ReadSettings(env.Settings)
	handler := wire(env)
	limiter := ratelimit.New(ratelimit.Config{
		Store: client, Limits: settings.Limits, Deadline: settings.Deadline, Clock: env.Now,
	})
	env.Limiter = fairUse{id, env, limiter}
	function := lambdahttp.New(op, env, handler)
	env.Start()
	// The limiter's connection is opened while the function starts.
	go limiter.Warm(context.Background())
	lambda.Start(function)
}

// A Task does what a schedule calls for.
type Task func(context.Context) error

// RunTask is the main function of a task's function, as Run is of an operation's. No limit counts a task.
func RunTask(id string, wire func(lambdahttp.Env) Task) {
	row, client := operations.TaskOf(id), dynamo.NewClient()
	env := lambdahttp.Env{
		DB: dynamo.Open(client, time.Now), API: client, Now: time.Now,
		Log: lambdacontext.NewLogger(), Metrics: os.Stdout, Settings: setting.NewReader(row.Settings...),
	}
	task := wire(env)
	env.Start()
	lambda.Start(func(ctx context.Context) error { return task(admission.Unlimited(ctx)) })
}

// LimiterFailOpen is the metric of calls that were let through uncounted, since the limiter's store
// did not answer in time.
const LimiterFailOpen = "LimiterFailOpen"

// fairUse holds an operation's calls to the limits. What the limiter could not check is logged and counted.
type fairUse struct {
	operation string
	env       lambdahttp.Env
	limiter   *ratelimit.Limiter
}

// Recall refuses a call that the container remembers would be refused.
func (f fairUse) Recall(caller auth.Principal, class operations.LimitClass) (http.Header, error) {
	d, refused := f.limiter.Recall(callerOf(caller), class)
	if !refused {
		return nil, nil
	}
	return d.Header(), d.Err()
}

// Admit counts a call.
func (f fairUse) Admit(ctx context.Context, caller auth.Principal, class operations.LimitClass) (http.Header, error) {
	d := f.limiter.Admit(ctx, callerOf(caller), class)
	if d.Unchecked != nil {
		f.env.Log.LogAttrs(ctx, slog.LevelWarn, "the call was not counted", slog.String("cause", d.Unchecked.Error()))
	}
	if d.Unchecked != nil && d.Outcome == ratelimit.Admitted {
		telemetry.Emit(f.env.Metrics, f.env.Now(), map[string]string{"operation": f.operation}, telemetry.One(LimiterFailOpen))
	}
	return d.Header(), d.Err()
}

// callerOf is who a call counts against.
func callerOf(p auth.Principal) ratelimit.Caller {
	return ratelimit.Caller{User: p.User(), Organization: p.OrganizationID, Box: p.Has(auth.Edge)}
}
