package lambdahttp

import (
	"context"
	"log/slog"
	"net/http"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/operations"
	"wavegate/shared/platform/telemetry"
)

// LimiterFailOpen is the metric of calls that were let through uncounted, since the limiter's store
// did not answer in time.
const LimiterFailOpen = "LimiterFailOpen"

// limit makes the admission of a function: the fair-use limiter over the store, with the limits of
// the environment. While the function starts, the limiter's connection is opened beside it.
func limit(id string, env Env) Admission {
	settings, err := ratelimit.SettingsFromEnv()
	env.Require(err)
	limiter := ratelimit.New(ratelimit.Config{
		Store: env.API, Limits: settings.Limits, Deadline: settings.Deadline, Clock: env.Now,
	})
	go limiter.Warm(context.Background())
	return Limit(id, env, limiter)
}

// Limit makes an admission of a limiter. What the limiter could not check is logged and counted.
func Limit(id string, env Env, limiter *ratelimit.Limiter) Admission {
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
