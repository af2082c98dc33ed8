// Command delete-gateway-token ends the tokens of an organization's gateway: 204. After at most two seconds, calls with
// them are refused.
package main

import (
	"net/http"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.DeleteGatewayToken(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	gateways := boxauth.NewGateways(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), gateways.EndTokens(c.Context(), c.Origin(), c.Caller, id, c.When)
	}
}
