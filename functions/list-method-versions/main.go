// Command list-method-versions lists the versions of a production method, the newest first.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.ListMethodVersions(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[method.Ref, paging.Place]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[method.Ref, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route()}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[method.Shown], error) {
			return methods.Versions(c.Context(), c.Caller, in.List.FactoryID, in.List.MethodID, w)
		})
	}
}
