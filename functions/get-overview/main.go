// Command get-overview answers with what is going on now: the active rollouts, those with trouble first, and the
// freeze.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(progress.GetOverview(), wire) }

func wire(env lambdahttp.Env) function.Handler[census.OfActive] {
	store := census.NewReader(env.DB, census.ReadSettings(env.Settings))
	return func(c *function.Call, in census.OfActive) (lambdahttp.Answer, error) {
		o, err := store.Overview(c.Context(), in.Filter, in.Limit, in.Skip)
		return lambdahttp.Present(o), err
	}
}
