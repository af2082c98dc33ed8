// Command get-machine answers with a machine of a factory that the caller may know of.
package main

import (
	"wavegate/shared/factory"
	"wavegate/shared/lambdahttp"
	"wavegate/shared/machine"
	"wavegate/shared/release"
	"wavegate/shared/request"
)

func main() { lambdahttp.Run("get-machine", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	machines := machine.NewStore(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId", factory.SlugRule)
		code := c.Path("code", release.NameRule)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		m, err := machines.Get(c.Context(), c.Caller, factoryID, code)
		return lambdahttp.OK(m, request.Revision(m.Revision)), err
	}
}
