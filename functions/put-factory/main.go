// Command put-factory registers or changes a factory of an organization, or when its boxes take updates. It answers 201 if the
// factory is new, 204 otherwise.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/factories"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/factory"
)

func main() { function.Run(factories.PutFactory(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, factory.Registration]] {
	factories := factory.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[string, factory.Registration]) (lambdahttp.Answer, error) {
		created, err := factories.Put(c.Context(), c.Origin(), in.Path, in.Body.By(c.Caller), c.When)
		return lambdahttp.Stored(created), err
	}
}
