// Command post-ddi-cancel-feedback records whether a DDI client has cancelled an action.
package main

import (
	"net/http"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(hawkbit.PostDDICancelFeedback(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[ddi.CallAbout, ddi.Status]] {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call, in input.Sent[ddi.CallAbout, ddi.Status]) (lambdahttp.Answer, error) {
		feedback := in.Body.Cancellation(in.Path.Action)
		feedback.At = env.DB.Now()
		return lambdahttp.Empty(http.StatusOK), boxes.Report(c.Context(), in.Path.By(c.Caller, c.Origin(), c.CountBox), feedback)
	}
}
