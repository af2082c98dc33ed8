// Command list-components answers with the versions of all edge types that contain a component.
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

func main() { function.Run(releases.ListComponents(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Place]] {
	store := release.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[string, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route(), Filter: input.Values("purl", in.List)}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[release.Containing], error) {
			return store.Containing(c.Context(), in.List, w)
		})
	}
}
