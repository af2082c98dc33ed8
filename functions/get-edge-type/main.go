// Command get-edge-type answers with what was set for an edge type, or 404 if nothing was.
package main

import (
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.GetEdgeType(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	types := edgetype.NewStore(env.DB)
	return func(c *function.Call, edgeType string) (lambdahttp.Answer, error) {
		is, err := types.Get(c.Context(), edgeType)
		return lambdahttp.OK(is, input.Revision(is.Revision)), err
	}
}
