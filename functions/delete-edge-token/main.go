// Command delete-edge-token ends a box's own tokens: 204, or 200 with the machines that it leaves without a box. The
// box's next call with one of them gets 401.
package main

import (
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/machine"
)

func main() { function.Run(boxes.DeleteEdgeToken(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log))
	machines := machine.NewStore(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		var was edge.Edge
		err := edges.For(c.Caller).Noting(&was).EndTokens(c.Context(), c.Origin(), id, c.When)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		left, some := machines.Left(c.Context(), was.FactoryID, id)
		return lambdahttp.OKIf(some, left), nil
	}
}
