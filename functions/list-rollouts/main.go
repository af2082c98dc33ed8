// Command list-rollouts answers with the rollouts, the most recently started first; edgeType, channel and status narrow
// them.
package main

import (
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(rollouts.ListRollouts(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[rollout.Filter, paging.Place]] {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[rollout.Filter, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route(), Filter: in.List.Values()}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[rollout.Rollout], error) {
			return rollouts.List(c.Context(), in.List, w)
		})
	}
}
