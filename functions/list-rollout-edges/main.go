// Command list-rollout-edges lists the boxes of a rollout that have reached a given state with their offer, or
// are silent.
package main

import (
	"net/url"

	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(progress.ListRolloutEdges(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[census.OfState, paging.Cursor]] {
	store := census.NewStore(env.DB, census.ReadSettings(env.Settings), ratelimit.LastSeen(env.API))
	return func(c *function.Call, in paging.Asked[census.OfState, paging.Cursor]) (lambdahttp.Answer, error) {
		id, state, cursor := in.List.RolloutID, in.List.State, in.Page
		search, err := store.Search(c.Context(), c.Caller, id, state)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route(), Filter: url.Values{"state": {string(state)}}, Of: c.Caller.Only()}
		after, err := cursor.Position(query, search.IsPosition)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		page, err := search.Page(c.Context(), after, cursor.Limit)
		return paging.Series(c, query, cursor.Limit, page, search.Position), err
	}
}
