// Command list-edges answers with boxes: all, or those of a release channel, of an organization, or with some property. Who
// reads boxes of one organization sees only these.
package main

import (
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(boxes.ListEdges(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[edge.Filter, paging.Place]] {
	edges := edge.NewStore(env.DB).Waiting(decide.Waiting(env.DB, ratelimit.LastSeen(env.API)))
	return func(c *function.Call, in paging.Asked[edge.Filter, paging.Place]) (lambdahttp.Answer, error) {
		filter, err := in.List.For(c.Caller)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route(), Filter: filter.Values()}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[edge.Shown], error) {
			return edges.List(c.Context(), filter, w)
		})
	}
}
