// Command get-ddi-cancel-action tells a DDI client which action to cancel.
package main

import (
	"net/http"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(hawkbit.GetDDICancelAction, wire) }

func wire(env lambdahttp.Env) function.Handler {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		call := ddi.ClientCall{
			Tenant: c.Path("tenant"), ControllerID: c.Path("controllerId"),
			Caller: c.Caller, Origin: c.Origin(), Counts: c.CountBox,
		}
		action := ddi.Action(c.Path("actionId"))
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}}, Body: ddi.NewCancelAnswer(action),
		}, boxes.Cancel(c.Context(), call, action)
	}
}
