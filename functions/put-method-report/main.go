// Command put-method-report records what a machine's box reports about the machine and a version of a method. It
// answers 201 for the machine's first report on the method, 204 otherwise, and 409 with the orders if the version was
// withdrawn. method.Store.Report says who may report.
package main

import (
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(methods.PutMethodReport(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[method.About, method.Report]] {
	methods := method.NewStore(env.DB).ForBoxes(boxauth.ReadIssuers(env.Settings).Speak)
	return func(c *function.Call, in input.Sent[method.About, method.Report]) (lambdahttp.Answer, error) {
		created, err := methods.Report(c.Context(), c.Caller, c.Origin(), in.Path.Machine.FactoryID, in.Path.Machine.Code, in.Path.MethodID, ratelimit.Subject(c.Caller.User()), in.Body)
		return lambdahttp.Stored(created), err
	}
}
