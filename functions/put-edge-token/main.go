// Command put-edge-token gives a box another token of its own, as the token's SHA-256: 204. The previous token stays
// valid for a while; see boxtoken.Live.
package main

import (
	"net/http"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.PutEdgeToken(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, string]] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log))
	return func(c *function.Call, in input.Sent[string, string]) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), edges.For(c.Caller).SetToken(c.Context(), c.Origin(), in.Path, in.Body, c.When)
	}
}
