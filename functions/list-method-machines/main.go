// Command list-method-machines lists the machines that a version concerns: which have it, which run it, and which have
// not confirmed its withdrawal.
package main

import (
	"context"
	"net/url"
	"time"

	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/method"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(methods.ListMethodMachines(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[method.ReachedBy, paging.Place]] {
	methods := method.NewStore(env.DB)
	seen := func(ctx context.Context, subject string) (time.Time, error) {
		return ratelimit.LastSeen(ctx, env.API, subject)
	}
	return func(c *function.Call, in paging.Asked[method.ReachedBy, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route()}
		if in.List.Unclear {
			query.Filter = url.Values{"clear": {"false"}}
		}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[method.Reached], error) {
			return methods.Machines(c.Context(), c.Caller, in.List.Ref, in.List.Unclear, seen, w)
		})
	}
}
