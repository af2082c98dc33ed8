// Command list-products lists the named products of a factory that the caller may read.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/products"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/product"
)

func main() { function.Run(products.ListProducts(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Place]] {
	products := product.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[string, paging.Place]) (lambdahttp.Answer, error) {
		return paging.List(c, paging.Query{Path: c.Route()}, in.Page, func(w dynamo.Span) (dynamo.Page[product.Product], error) {
			return products.List(c.Context(), c.Caller, in.List, w)
		})
	}
}
