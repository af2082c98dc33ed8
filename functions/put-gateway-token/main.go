// Command put-gateway-token gives an organization's gateway another token, as the token's SHA-256: 204. The previous
// token stays valid for a while; see boxtoken.Live.
package main

import (
	"net/http"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.PutGatewayToken, wire) }

func wire(env lambdahttp.Env) function.Handler {
	gateways := boxauth.NewGateways(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("organizationId")
		sha256 := edge.TokenOf(c.Body())
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return lambdahttp.Empty(http.StatusNoContent), gateways.SetToken(c.Context(), c.Origin(), c.Caller, id, sha256, when)
	}
}
