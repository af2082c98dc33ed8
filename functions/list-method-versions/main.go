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

func main() { function.Run(methods.ListMethodVersions, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId")
		methodID := c.Path("methodId")
		place := paging.ByOffset(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route()}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[method.Shown], error) {
			return methods.Versions(c.Context(), c.Caller, factoryID, methodID, w)
		})
	}
}
