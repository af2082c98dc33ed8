// Command put-product names a product of a factory. It answers 201 if the product had no name, 204 otherwise.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/products"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/product"
)

func main() { function.Run(products.PutProduct(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[product.Place, product.Naming]] {
	products := product.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[product.Place, product.Naming]) (lambdahttp.Answer, error) {
		created, err := products.Put(c.Context(), c.Caller, c.Origin(), in.Path, in.Body, c.When)
		return lambdahttp.Stored(created), err
	}
}
