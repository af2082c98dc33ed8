// Command post-ddi-deployment-feedback records a DDI client's progress with an installation.
package main

import (
	"net/http"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(hawkbit.PostDDIDeploymentFeedback, wire) }

func wire(env lambdahttp.Env) function.Handler {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		call := ddi.ClientCall{
			Tenant: c.Path("tenant"), ControllerID: c.Path("controllerId"),
			Caller: c.Caller, Origin: c.Origin(), Counts: c.CountBox,
		}
		action := ddi.Action(c.Path("actionId"))
		status := ddi.StatusOf(c.BodyWith(ddi.Quoted))
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		feedback := status.Deployment(action)
		feedback.At = env.DB.Now()
		return lambdahttp.Empty(http.StatusOK), boxes.Report(c.Context(), call, feedback)
	}
}
