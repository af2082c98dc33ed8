// Command get-ddi-base answers the poll of a DDI client: whether there is an action for the box, and when to poll again.
// ddi.Boxes says what a poll costs.
package main

import (
	"net/http"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(hawkbit.GetDDIBase(), wire) }

func wire(env lambdahttp.Env) function.Handler[ddi.ClientCall] {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call, in ddi.ClientCall) (lambdahttp.Answer, error) {
		base, err := boxes.Poll(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox))
		polling.Warn(c.Context(), env.Log, env.Metrics, env.Now(), "get-ddi-base", base.Unrecorded)
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}},
			Body: base.Answer(c.Self()), // with the path that the client used
			Wait: base.Sleep,
		}, polling.Spread(err)
	}
}
