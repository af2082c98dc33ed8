// Command get-machine returns a machine of a factory that the caller may read.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/machines"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/machine"
)

func main() { function.Run(machines.GetMachine, wire) }

func wire(env lambdahttp.Env) function.Handler {
	machines := machine.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId")
		code := c.Path("code")
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		m, err := machines.Get(c.Context(), c.Caller, factoryID, code)
		return lambdahttp.OK(m, input.Revision(m.Revision)), err
	}
}
