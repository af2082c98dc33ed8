// Command put-edge-token gives a box a token of its own, in place of the one before. The answer is the only place that
// shows it.
package main

import (
	"net/http"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run("put-edge-token", wire) }

func wire(env lambdahttp.Env) function.Handler {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log))
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("edgeId")
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		token, err := edges.IssueToken(c.Context(), c.Origin(), id, when)
		return lambdahttp.Answer{Status: http.StatusOK, Body: boxtoken.Issued{Token: token}}, err
	}
}
