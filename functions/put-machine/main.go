// Command put-machine registers or changes a machine of a factory. It answers 201 if the machine
// is new, 204 otherwise.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/machines"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/machine"
)

func main() { function.Run(machines.PutMachine, wire) }

func wire(env lambdahttp.Env) function.Handler {
	machines := machine.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId")
		code := c.Path("code")
		body := c.Body()
		r := machine.Registration{Name: body.Text("name"), Classes: machine.ClassesOf(body), EdgeID: body.ClearableText("edgeId")}
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := machines.Put(c.Context(), c.Caller, c.Origin(), factoryID, code, r, when)
		return lambdahttp.Stored(created), err
	}
}
