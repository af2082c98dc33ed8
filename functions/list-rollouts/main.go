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

func main() { function.Run(rollouts.ListRollouts, wire) }

func wire(env lambdahttp.Env) function.Handler {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		filter := rollout.FilterOf(c.Reader)
		place := paging.ByOffset(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route(), Filter: filter.Values()}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[rollout.Rollout], error) {
			return rollouts.List(c.Context(), filter, w)
		})
	}
}
