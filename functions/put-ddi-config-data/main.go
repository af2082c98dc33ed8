// Command put-ddi-config-data records what a DDI client says about its box. The attribute installed is the version that
// the box runs.
package main

import (
	"net/http"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(hawkbit.PutDDIConfigData, wire) }

func wire(env lambdahttp.Env) function.Handler {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		call := ddi.ClientCall{
			Tenant: c.Path("tenant"), ControllerID: c.Path("controllerId"),
			Caller: c.Caller, Origin: c.Origin(), Counts: c.CountBox,
		}
		installed := ddi.InstalledOf(c.Body())
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return lambdahttp.Empty(http.StatusOK), boxes.State(c.Context(), call, installed)
	}
}
