// Command list-rollout-edges lists the boxes of a rollout that have reached a given state with their offer, or
// are silent.
package main

import (
	"net/url"

	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(progress.ListRolloutEdges(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[census.OfState, paging.Place]] {
	store := census.NewStore(env.DB, census.ReadSettings(env.Settings), ratelimit.LastSeen(env.API))
	return func(c *function.Call, in paging.Asked[census.OfState, paging.Place]) (lambdahttp.Answer, error) {
		search, err := store.Search(c.Context(), c.Caller, in.List.RolloutID, in.List.State)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route(), Filter: url.Values{"state": {string(in.List.State)}}, Of: c.Caller.Only(), Position: search.IsPosition}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[census.Box], error) { return search.Page(c.Context(), w) })
	}
}
