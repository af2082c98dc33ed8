// Command list-edges answers with the boxes of a release channel, or with those of an organization.
package main

import (
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(boxes.ListEdges, wire) }

func wire(env lambdahttp.Env) function.Handler {
	edges := edge.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		filter := edge.FilterOf(c.Reader)
		place := paging.ByOffset(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route(), Filter: filter.Values()}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[edge.Edge], error) {
			return edges.List(c.Context(), filter, w)
		})
	}
}
