// Command get-edge answers with a box: the release channel that it follows and its organization.
package main

import (
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.GetEdge, wire) }

func wire(env lambdahttp.Env) function.Handler {
	edges := edge.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("edgeId")
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		e, err := edges.Get(c.Context(), id)
		return lambdahttp.OK(e, input.Revision(e.Revision)), err
	}
}
