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

func main() { function.Run(methods.GetMethodVersion, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		ref := method.RefOf(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		v, err := methods.Version(c.Context(), c.Caller, ref)
		return lambdahttp.OK(v, input.Revision(v.Revision)), err
	}
}
