// Command reset-edge-enrolment retires a box that an enrolment registered, and frees its id: 204, or 200 with the machines
// that it leaves without a box. The next box that redeems the id is registered.
package main

import (
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/machine"
)

func main() { function.Run(enrolments.ResetEdgeEnrolment(), wire) }

func wire(env lambdahttp.Env) function.Handler[enrolment.Place] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log))
	machines := machine.NewStore(env.DB)
	return func(c *function.Call, in enrolment.Place) (lambdahttp.Answer, error) {
		var was edge.Edge
		err := enrolment.NewRegistry(env.DB, edges.Noting(&was)).Reset(c.Context(), c.Origin(), c.Caller, in.EnrolmentID, in.EdgeID)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		left, some := machines.Left(c.Context(), was.FactoryID, in.EdgeID)
		return lambdahttp.OKIf(some, left), nil
	}
}
