// Command put-gateway-token gives an organization's gateway another token, as the token's SHA-256: 204. The previous
// token stays valid for a while; see boxtoken.Live.
package main

import (
	"net/http"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.PutGatewayToken(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, string]] {
	gateways := boxauth.NewGateways(env.DB)
	return func(c *function.Call, in input.Sent[string, string]) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), gateways.SetToken(c.Context(), c.Origin(), c.Caller, in.Path, in.Body, c.When)
	}
}
