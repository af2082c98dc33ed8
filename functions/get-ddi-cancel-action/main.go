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

func main() { function.Run(hawkbit.GetDDICancelAction(), wire) }

func wire(env lambdahttp.Env) function.Handler[ddi.CallAbout] {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call, in ddi.CallAbout) (lambdahttp.Answer, error) {
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}}, Body: ddi.NewCancelAnswer(in.Action),
		}, boxes.Cancel(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox), in.Action)
	}
}
