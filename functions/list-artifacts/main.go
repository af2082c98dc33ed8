// Command list-artifacts answers with the artifacts; edgeType narrows them to one edge type.
package main

import (
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/function"
	"wavegate/shared/operations/artifacts"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(artifacts.ListArtifacts(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Place]] {
	artifacts := artifact.NewStore(env.DB, artifact.ReadBucket(env.Settings, env.Now, env.Metrics))
	return func(c *function.Call, in paging.Asked[string, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route(), Filter: input.Values("edgeType", in.List)}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[artifact.Artifact], error) {
			return artifacts.List(c.Context(), in.List, w)
		})
	}
}
