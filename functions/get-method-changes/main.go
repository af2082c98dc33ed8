// Command get-method-changes lists the changes from the content of one version to that of
// another.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.GetMethodChanges(), wire) }

func wire(env lambdahttp.Env) function.Handler[method.Two] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in method.Two) (lambdahttp.Answer, error) {
		changes, err := methods.Changes(c.Context(), c.Caller, in.Since, in.Version)
		return lambdahttp.OK(method.Comparison{Since: in.Since.Version, Version: in.Version.Version, Changes: changes}, ""), err
	}
}
