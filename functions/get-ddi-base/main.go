// Command get-ddi-base answers the poll of a DDI client: whether there is an action for the box, and when to poll again.
// ddi.Boxes says what a poll costs.
package main

import (
	"context"
	"net/http"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(hawkbit.GetDDIBase(), wire) }

func wire(env lambdahttp.Env) function.Handler[ddi.ClientCall] {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now).Seeing(ratelimit.LastSeen(env.API))
	return func(c *function.Call, in ddi.ClientCall) (lambdahttp.Answer, error) {
		if c.Caller.Has(auth.Edge) { // its own token: a gateway's calls are counted otherwise
			in.Calls = func(ctx context.Context) int { return ratelimit.Used(admission.Header(ctx)) }
		}
		base, err := boxes.Poll(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox))
		polling.Warn(c.Context(), env.Log, env.Metrics, env.Now(), "get-ddi-base", base.Unrecorded)
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}},
			Body: base.Answer(c.Self()), // with the path that the client used
			Wait: base.Sleep,
		}, polling.Spread(err)
	}
}
