// Command delete-edge-token ends a box's own tokens: 204. The box's next call with one of them gets 401.
package main

import (
	"net/http"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.DeleteEdgeToken(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log))
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), edges.For(c.Caller).EndTokens(c.Context(), c.Origin(), id, c.When)
	}
}
