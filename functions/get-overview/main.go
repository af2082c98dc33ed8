// Command get-overview answers with what is going on now: the active rollouts, those with trouble first, the
// halted ones, the recalls that are not confirmed, versions whose support ends, and the freeze.
package main

import (
	"context"

	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(progress.GetOverview(), wire) }

// now is what the function answers.
type now struct {
	census.Overview
	method.Warned
	census.Supports
}

func wire(env lambdahttp.Env) function.Handler[census.OfActive] {
	store := census.NewReader(env.DB, census.ReadSettings(env.Settings))
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in census.OfActive) (lambdahttp.Answer, error) {
		var now now
		err := dynamo.Together(c.Context(),
			func(ctx context.Context) (err error) {
				now.Overview, err = store.Overview(ctx, in.Filter, in.Limit, in.Skip)
				return err
			},
			func(ctx context.Context) (err error) { now.Supports, err = store.Support(ctx, ""); return err },
			func(ctx context.Context) (err error) { now.Recalls, err = methods.Unconfirmed(ctx, ""); return err })
		return lambdahttp.Present(now), err
	}
}
