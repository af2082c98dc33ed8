// Command get-machine returns a machine of a factory that the caller may read.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/request"
	"wavegate/shared/platform/value"
	"wavegate/shared/production/machine"
)

func main() { function.Run("get-machine", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	machines := machine.NewStore(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId", value.Slug)
		code := c.Path("code", value.Name)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		m, err := machines.Get(c.Context(), c.Caller, factoryID, code)
		return lambdahttp.OK(m, request.Revision(m.Revision)), err
	}
}
