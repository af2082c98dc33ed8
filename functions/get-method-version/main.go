// Command get-method-version returns a version of a production method: its status, who worked on
// it and who signed.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.GetMethodVersion(), wire) }

func wire(env lambdahttp.Env) function.Handler[method.Ref] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, ref method.Ref) (lambdahttp.Answer, error) {
		v, err := methods.Version(c.Context(), c.Caller, ref)
		return lambdahttp.OK(v, input.Revision(v.Revision)), err
	}
}
