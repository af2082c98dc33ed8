// Command list-release-channels answers with the release channels; edgeType narrows them to one edge
// type.
package main

import (
	"net/url"

	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(releases.ListReleaseChannels(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Place]] {
	channels := release.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[string, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route()}
		if in.List != "" {
			query.Filter = url.Values{"edgeType": {in.List}}
		}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[release.View], error) {
			return channels.List(c.Context(), in.List, w)
		})
	}
}
