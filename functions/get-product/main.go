// Command get-product returns a named product of a factory that the caller may read.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/products"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/product"
)

func main() { function.Run(products.GetProduct(), wire) }

func wire(env lambdahttp.Env) function.Handler[product.Place] {
	products := product.NewStore(env.DB)
	return func(c *function.Call, in product.Place) (lambdahttp.Answer, error) {
		p, err := products.Get(c.Context(), c.Caller, in)
		return lambdahttp.OK(p, input.Revision(p.Revision)), err
	}
}
