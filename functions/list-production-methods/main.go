// Command list-production-methods lists the production methods of a factory that the caller may read. productId selects
// the methods of one product. status selects those whose latest version has that status.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.ListProductionMethods(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[method.Filter, paging.Place]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[method.Filter, paging.Place]) (lambdahttp.Answer, error) {
		of := in.List
		query := paging.Query{Path: c.Route(), Filter: of.Values()}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[method.Made], error) {
			return methods.ShowList(c.Context(), c.Caller, of, w)
		})
	}
}
