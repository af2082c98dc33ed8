// Command get-edge answers with a box: the release channel that it follows, its organization and its attributes.
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
		e, err := edges.Show(c.Context(), c.Caller, id)
		answer := lambdahttp.OK(e, input.Revision(e.Revision))
		answer.NotModified = new(bool) // the tag does not cover what the box says
		return answer, err
	}
}
