// Command create-production-method creates a production method for a product of a factory. It
// answers 201 with the Location.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.CreateProductionMethod(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, method.Creation]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[string, method.Creation]) (lambdahttp.Answer, error) {
		id, err := methods.Create(c.Context(), c.Caller, c.Origin(), in.Path, in.Body, c.Claim)
		return lambdahttp.Created(c.Href(c.Route() + "/" + id)), err
	}
}
