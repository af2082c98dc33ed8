// Command list-releases answers with the versions of an edge type that were ever published, the highest order first.
package main

import (
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(releases.ListReleases(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Place]] {
	store := release.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[string, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route(), Filter: input.Values("edgeType", in.List)}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[release.Published], error) {
			return store.Published(c.Context(), in.List, w)
		})
	}
}
