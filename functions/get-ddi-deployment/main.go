// Command get-ddi-deployment tells a DDI client what to install, and where the bytes are.
package main

import (
	"net/http"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(hawkbit.GetDDIDeployment(), wire) }

func wire(env lambdahttp.Env) function.Handler[ddi.CallAbout] {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now).Seeing(ratelimit.LastSeen(env.API))
	return func(c *function.Call, in ddi.CallAbout) (lambdahttp.Answer, error) {
		deployment, err := boxes.Deployment(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox), in.Action)
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}}, Body: deployment.Answer(),
		}, err
	}
}
