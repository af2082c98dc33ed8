// Command get-edge answers with a box: the release channel that it follows and its organization.
package main

import (
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.GetEdge(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	edges := edge.NewStore(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		e, err := edges.Get(c.Context(), id)
		return lambdahttp.OK(e, input.Revision(e.Revision)), err
	}
}
