// Command get-factory returns a factory of the caller's organization. A platform owner may read
// any factory.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/factories"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/factory"
)

func main() { function.Run(factories.GetFactory(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	factories := factory.NewStore(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		f, err := factories.Readable(c.Context(), c.Caller, id)
		return lambdahttp.OK(f, input.Revision(f.Revision)), err
	}
}
