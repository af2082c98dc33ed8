// Command get-production-method returns a production method of a factory that the caller may
// read.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.GetProductionMethod(), wire) }

func wire(env lambdahttp.Env) function.Handler[method.Ref] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in method.Ref) (lambdahttp.Answer, error) {
		m, err := methods.Show(c.Context(), c.Caller, in.FactoryID, in.MethodID)
		return lambdahttp.OK(m, m.ETag()), err
	}
}
