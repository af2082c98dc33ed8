// Command list-edges answers with the boxes of a release channel, or with those of an organization.
package main

import (
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run("list-edges", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	edges := edge.NewStore(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		filter := edge.FilterOf(c.Input)
		window := paging.ByOffset(c.Input)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: "/api/edges", Filter: filter.Values()}
		page, err := edges.List(c.Context(), filter, window)
		return paging.Offset(c, query, window, page), err
	}
}
