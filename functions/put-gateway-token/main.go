// Command put-gateway-token gives an organization's gateway a token that speaks for all boxes of the organization, in
// place of the one before. The answer is the only place that shows it.
package main

import (
	"net/http"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run("put-gateway-token", wire) }

func wire(env lambdahttp.Env) function.Handler {
	gateways := edge.NewGateways(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("organizationId")
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		token, err := gateways.IssueToken(c.Context(), c.Origin(), id, when)
		return lambdahttp.Answer{Status: http.StatusOK, Body: boxtoken.Issued{Token: token}}, err
	}
}
