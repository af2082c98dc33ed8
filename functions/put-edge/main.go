// Command put-edge registers a box on a release channel and in an organization, or moves it: 201 when
// it is new, 204 when it was there. The box follows the channel from its next manifest poll on.
package main

import (
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/value"
)

func main() { function.Run("put-edge", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	edges := edge.NewStore(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		id := c.Path("edgeId", value.Name)
		body := c.Body()
		assignment := edge.Assignment{
			EdgeType:       body.Text("edgeType", value.Name),
			Channel:        body.Text("channel", value.Name),
			OrganizationID: body.Text("organizationId", value.Name),
		}
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := edges.Put(c.Context(), c.Origin(), id, assignment, when)
		return lambdahttp.Stored(created), err
	}
}
