// Command put-edge-type sets what holds for all boxes of an edge type: 201 if nothing was set for it, 204 otherwise.
package main

import (
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.PutEdgeType(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, edgetype.Wish]] {
	types := edgetype.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[string, edgetype.Wish]) (lambdahttp.Answer, error) {
		created, err := types.Set(c.Context(), c.Origin(), in.Path, in.Body, c.When)
		return lambdahttp.Stored(created), err
	}
}
