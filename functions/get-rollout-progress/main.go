// Command get-rollout-progress answers with the progress of a rollout, from the last count of its boxes or a new one,
// by stage or by factory.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(progress.GetRolloutProgress(), wire) }

func wire(env lambdahttp.Env) function.Handler[census.OfRollout] {
	store := census.NewStore(env.DB, census.ReadSettings(env.Settings), ratelimit.LastSeen(env.API))
	return func(c *function.Call, in census.OfRollout) (lambdahttp.Answer, error) {
		p, err := store.Rollout(c.Context(), in.ID, in.ByFactory, in.Fresh)
		return lambdahttp.Present(p), err
	}
}
