// Command put-method-report records what a machine's box reports about the machine and a version of a method. It
// answers 201 for the machine's first report on the method, 204 otherwise, and 409 with the orders if the version was
// withdrawn. method.Store.Report says who may report.
package main

import (
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(methods.PutMethodReport, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB).ForBoxes(boxauth.ReadIssuers(env.Settings).Speak)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId")
		code := c.Path("code")
		methodID := c.Path("methodId")
		report := method.ReportOf(c.Body())
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := methods.Report(c.Context(), c.Caller, c.Origin(), factoryID, code, methodID, ratelimit.Subject(c.Caller.User()), report)
		return lambdahttp.Stored(created), err
	}
}
