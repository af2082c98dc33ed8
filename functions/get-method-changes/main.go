// Command get-method-changes lists the changes from the content of one version to that of
// another.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.GetMethodChanges, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		ref := method.RefOf(c.Reader)
		since := method.SinceOf(c.Reader, ref)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		changes, err := methods.Changes(c.Context(), c.Caller, since, ref)
		return lambdahttp.OK(method.Comparison{Since: since.Version, Version: ref.Version, Changes: changes}, ""), err
	}
}
