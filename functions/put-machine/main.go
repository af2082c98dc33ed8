// Command put-machine registers or changes a machine of a factory. It answers 201 if the machine
// is new, 204 otherwise.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/machines"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
)

func main() { function.Run(machines.PutMachine(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[machine.Place, machine.Registration]] {
	machines := machine.NewStore(env.DB).Admitting(method.NewStore(env.DB).Waits)
	return func(c *function.Call, in input.Sent[machine.Place, machine.Registration]) (lambdahttp.Answer, error) {
		if in.Body.Admission != "" {
			if err := c.Caller.Fresh(env.Settings, env.Now()); err != nil {
				return lambdahttp.Answer{}, err
			}
		}
		created, err := machines.Put(c.Context(), c.Caller, c.Origin(), in.Path.FactoryID, in.Path.Code, in.Body, c.When)
		return lambdahttp.Stored(created), err
	}
}
