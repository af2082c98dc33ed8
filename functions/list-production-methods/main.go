// Command list-production-methods lists the production methods of a factory that the caller may read. productId selects
// the methods of one product. status selects those whose latest version has that status.
package main

import (
	"net/url"

	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.ListProductionMethods, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId")
		productID, byProduct := c.Query("productId")
		status, byStatus := c.Query("status")
		if byProduct && byStatus {
			c.Fault("status", "exclusive", "must not be given together with productId")
		}
		place := paging.ByOffset(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: c.Route()}
		if byProduct {
			query.Filter = url.Values{"productId": {productID}}
		}
		if byStatus {
			query.Filter = url.Values{"status": {status}}
		}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[method.Method], error) {
			return methods.List(c.Context(), c.Caller, factoryID, productID, method.Status(status), w)
		})
	}
}
