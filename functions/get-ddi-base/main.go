// Command get-ddi-base answers the poll of a DDI client: whether there is an action for the box, and when to poll again.
// ddi.Boxes says what a poll costs.
package main

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/telemetry"
)

func main() { function.Run(hawkbit.GetDDIBase(), wire) }

func wire(env lambdahttp.Env) function.Handler[ddi.ClientCall] {
	boxes := ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), env.Now)
	return func(c *function.Call, in ddi.ClientCall) (lambdahttp.Answer, error) {
		base, err := boxes.Poll(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox))
		if base.Unrecorded != nil && !errors.Is(base.Unrecorded, report.ErrOutdated) {
			env.Log.LogAttrs(c.Context(), slog.LevelWarn, "the report was not recorded", slog.String("cause", base.Unrecorded.Error()))
			telemetry.Emit(env.Metrics, env.Now(), map[string]string{"operation": "get-ddi-base"}, telemetry.One(report.NotRecorded))
		}
		if problem.Has(err, problem.Unavailable) { // the fleet comes back over a minute, not all at once
			err = problem.From(err).After(time.Second + rand.N(time.Minute))
		}
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}},
			Body: base.Answer(c.Self()), // with the path that the client used
			Wait: base.Sleep,
		}, err
	}
}
