// Command delete-edge retires a box: 204. From then on it is in no list or count, and its polls get 404.
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

func main() { function.Run(boxes.DeleteEdge(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log))
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), edges.For(c.Caller).Retire(c.Context(), c.Origin(), id, c.When)
	}
}
