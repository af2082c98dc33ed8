// Command get-overview answers with what is going on now: the active rollouts, those with trouble first, and the
// freeze.
package main

import (
	"context"
	"net/http"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(progress.GetOverview, wire) }

func wire(env lambdahttp.Env) function.Handler {
	store := census.NewStore(env.DB, census.ReadSettings(env.Settings),
		func(ctx context.Context, subject string) (time.Time, error) {
			return ratelimit.LastSeen(ctx, env.API, subject)
		})
	return func(c *function.Call) (lambdahttp.Answer, error) {
		edgeType, _ := c.Query("edgeType")
		channel, _ := c.Query("channel")
		limit, skip := c.QueryInteger("limit"), c.QueryInteger("skip")
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		o, err := store.Overview(c.Context(), rollout.Filter{EdgeType: edgeType, Channel: channel}, limit, skip)
		return lambdahttp.Answer{Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}}, Body: o}, err
	}
}
