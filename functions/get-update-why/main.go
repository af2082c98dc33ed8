// Command get-update-why explains why a box gets the version it gets, when it was last seen and what it last reported.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(progress.GetUpdateWhy(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	store := census.NewStore(env.DB, census.Settings{Shards: report.ReadShards(env.Settings)}, ratelimit.LastSeen(env.API))
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		why, err := store.Why(c.Context(), c.Caller, id)
		return lambdahttp.Present(why), err
	}
}
