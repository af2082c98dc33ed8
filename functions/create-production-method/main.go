// Command create-production-method creates a production method for a product of a factory. It
// answers 201 with the Location.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.CreateProductionMethod, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId")
		body := c.Body()
		draft := method.Creation{
			ProductID: body.Text("productId"),
			Name:      body.Text("name"),
		}
		key := c.IdempotencyKey()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		claim, err := c.Claim(key, draft)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		id, err := methods.Create(c.Context(), c.Caller, c.Origin(), factoryID, draft, claim)
		return lambdahttp.Created(c.Href(c.Route() + "/" + id)), err
	}
}
