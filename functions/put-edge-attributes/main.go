// Command put-edge-attributes records what a box says that it is.
package main

import (
	"net/http"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.PutEdgeAttributes(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, map[string]string]] {
	reports := polling.NewReports(env.DB, report.ReadShards(env.Settings), boxauth.ReadIssuers(env.Settings))
	return func(c *function.Call, in input.Sent[string, map[string]string]) (lambdahttp.Answer, error) {
		id, said := in.Path, in.Body
		if err := boxauth.Named(c.Caller, id); err != nil {
			return lambdahttp.Answer{}, err
		}
		return lambdahttp.Empty(http.StatusNoContent), reports.Describe(c.Context(), c.Caller, id, report.Description{Said: said, At: env.DB.Now()}, c.Reader.Heard()...)
	}
}
