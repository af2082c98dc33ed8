// Command list-method-machines lists the machines that a version concerns: which have it, which run it, and which have
// not confirmed its withdrawal.
package main

import (
	"net/url"

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
	methods, seen := method.NewStore(env.DB), ratelimit.LastSeen(env.API)
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
