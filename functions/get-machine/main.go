// Command get-machine returns a machine of a factory that the caller may read.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/machines"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/machine"
)

func main() { function.Run(machines.GetMachine(), wire) }

func wire(env lambdahttp.Env) function.Handler[machine.Place] {
	machines := machine.NewStore(env.DB)
	return func(c *function.Call, in machine.Place) (lambdahttp.Answer, error) {
		m, err := machines.Get(c.Context(), c.Caller, in.FactoryID, in.Code)
		return lambdahttp.OK(m, input.Revision(m.Revision)), err
	}
}
