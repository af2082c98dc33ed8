// Command list-rollout-history answers with the history of a rollout, one entry per minute, the newest first.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(progress.ListRolloutHistory(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Cursor]] {
	store := census.NewReader(env.DB, census.Settings{})
	return func(c *function.Call, in paging.Asked[string, paging.Cursor]) (lambdahttp.Answer, error) {
		id, cursor := in.List, in.Page
		query := paging.Query{Path: c.Route()}
		before, err := cursor.Position(query, census.IsMoment)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		page, err := store.History(c.Context(), id, before, cursor.Limit)
		return paging.Series(c, query, cursor.Limit, page, census.PositionOf), err
	}
}
