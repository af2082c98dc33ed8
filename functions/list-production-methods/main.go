// Command list-production-methods answers with the production methods of a factory that the caller
// may know of; productId narrows them to one product.
package main

import (
	"net/url"

	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/value"
	"wavegate/shared/production/method"
)

func main() { function.Run("list-production-methods", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	methods := method.NewStore(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId", value.Slug)
		productID, filtered := c.Query("productId", value.UUID)
		window := paging.ByOffset(c.Input)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		query := paging.Query{Path: "/api/factories/" + factoryID + "/production-methods"}
		if filtered {
			query.Filter = url.Values{"productId": {productID}}
		}
		page, err := methods.List(c.Context(), c.Caller, factoryID, productID, window)
		return paging.Offset(c, query, window, page), err
	}
}
