// Command accept-edge-enrolment registers waiting boxes, each with the token hash that it waits with: 204. The boxes
// learn of it when they redeem their ids again.
package main

import (
	"net/http"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(enrolments.AcceptEdgeEnrolment(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, []enrolment.Pair]] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log)).
		Within(edge.ReadQuotas(env.Settings))
	enrolments := enrolment.NewRegistry(env.DB, edges)
	return func(c *function.Call, in input.Sent[string, []enrolment.Pair]) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), enrolments.Accept(c.Context(), c.Origin(), c.Caller, in.Path, in.Body)
	}
}
