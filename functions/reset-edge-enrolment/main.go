// Command reset-edge-enrolment retires a box that an enrolment registered, and frees its id: 204. The next box that
// redeems the id is registered.
package main

import (
	"net/http"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(enrolments.ResetEdgeEnrolment(), wire) }

func wire(env lambdahttp.Env) function.Handler[enrolment.Place] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log))
	enrolments := enrolment.NewRegistry(env.DB, edges)
	return func(c *function.Call, in enrolment.Place) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), enrolments.Reset(c.Context(), c.Origin(), c.Caller, in.EnrolmentID, in.EdgeID)
	}
}
