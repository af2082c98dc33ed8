// Command put-ddi-config-data records what a DDI client says about its box. The attribute installed is the version that
// the box runs; the others are kept as the box's attributes.
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

func main() { function.Run(hawkbit.PutDDIConfigData(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[ddi.ClientCall, ddi.Statement]] {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call, in input.Sent[ddi.ClientCall, ddi.Statement]) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusOK), boxes.State(c.Context(), in.Path.By(c.Caller, c.Origin(), c.CountBox), in.Body)
	}
}
