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
	env.Start()
	limiter := ratelimit.New(ratelimit.Config{
		Store: client, Limits: settings.Limits, Deadline: settings.Deadline, Clock: env.Now,
	})
	// The limiter's connection is opened while the function starts.
	go limiter.Warm(context.Background())
	env.Admit = Limit(id, env, limiter)
	lambda.Start(lambdahttp.New(op, env, handler))
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

// Limit admits calls by a limiter. What the limiter could not check is logged and counted.
func Limit(id string, env lambdahttp.Env, limiter *ratelimit.Limiter) lambdahttp.Admit {
	return func(ctx context.Context, caller auth.Principal, class operations.LimitClass) (http.Header, error) {
		d := limiter.Admit(ctx, ratelimit.Caller{
			User: caller.User(), Organization: caller.OrganizationID, Box: caller.Has(auth.Edge),
		}, class)
		if d.Unchecked != nil {
			env.Log.LogAttrs(ctx, slog.LevelWarn, "the call was not counted", slog.String("cause", d.Unchecked.Error()))
		}
		if d.Unchecked != nil && d.Outcome == ratelimit.Admitted {
			telemetry.Emit(env.Metrics, env.Now(), map[string]string{"operation": id}, telemetry.One(LimiterFailOpen))
		}
		return d.Header(), d.Err()
	}
}
