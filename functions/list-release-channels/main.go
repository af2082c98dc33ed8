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

func main() { function.Run(releases.ListReleaseChannels, wire) }

func wire(env lambdahttp.Env) function.Handler {
	channels := release.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		edgeType, filtered := c.Query("edgeType")
		place := paging.ByOffset(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route()}
		if filtered {
			query.Filter = url.Values{"edgeType": {edgeType}}
		}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[release.View], error) {
			return channels.List(c.Context(), edgeType, w)
		})
	}
}
