// Command redeem-edge-enrolment registers the box that calls with a code, with the SHA-256 of its token: 201, also if it
// calls again. If its id is not listed, it waits until a person accepts it: 202.
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
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/telemetry"
)

func main() { function.Run(enrolments.RedeemEdgeEnrolment(), wire) }

func wire(env lambdahttp.Env) function.Handler[enrolment.Pair] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log)).
		Within(edge.ReadQuotas(env.Settings))
	enrolments := enrolment.NewRegistry(env.DB, edges)
	return func(c *function.Call, pair enrolment.Pair) (lambdahttp.Answer, error) {
		e, outcome, err := enrolments.Redeem(c.Context(), c.Origin(), c.Caller, pair)
		if problem.Has(err, problem.EdgeEnrolled) {
			telemetry.Emit(env.Metrics, env.Now(), nil, telemetry.One(enrolment.Refusals))
		}
		if err != nil || outcome == enrolment.Waits {
			return lambdahttp.Answer{Status: http.StatusAccepted, Body: enrolment.Told{EdgeID: pair.EdgeID, State: "waiting"}}, err
		}
		return lambdahttp.Answer{Status: http.StatusCreated, Body: e.Told(pair.EdgeID)}, nil
	}
}
