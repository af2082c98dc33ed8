// Command put-factory registers or changes a factory of an organization. It answers 201 if the
// factory is new, 204 otherwise.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/factories"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/factory"
)

func main() { function.Run(factories.PutFactory, wire) }

func wire(env lambdahttp.Env) function.Handler {
	factories := factory.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("factoryId")
		body := c.Body()
		organization := body.Text("organizationId")
		name := body.Text("name")
		approval, _ := body.OptionalText("methodApproval")
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := factories.Put(c.Context(), c.Origin(), id, factory.Registration{
			OrganizationID: organization, Name: name, MethodApproval: factory.ApprovalPolicy(approval),
		}, when)
		return lambdahttp.Stored(created), err
	}
}
