// Command tick counts the boxes of the active rollouts. A schedule calls it once a minute; see progress.Store.Tick.
package main

import (
	"context"
	"time"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/progress"
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/telemetry"
)

func main() { function.RunTask(operations.Tick, wire) }

// ProgressAge is the metric of how old the oldest count of an active rollout is, in seconds; 0 without
// active rollouts. It is written at the end of every tick, so a tick that fails leaves it out.
const ProgressAge = "ProgressAge"

func wire(env lambdahttp.Env) function.Task {
	store := progress.NewStore(env.DB, progress.ReadSettings(env.Settings),
		func(ctx context.Context, subject string) (time.Time, error) {
			return ratelimit.LastSeen(ctx, env.API, subject)
		})
	return func(ctx context.Context) error {
		tally, err := store.Tick(ctx)
		env.Log.InfoContext(ctx, "ticked", "active", tally.Active, "counted", tally.Counted, "oldest", tally.Oldest.String())
		if err == nil {
			telemetry.Emit(env.Metrics, env.Now(), map[string]string{"operation": operations.Tick},
				telemetry.Metric{Name: ProgressAge, Value: tally.Oldest.Seconds(), Unit: telemetry.Seconds})
		}
		return err
	}
}
