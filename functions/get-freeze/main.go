// Command get-freeze answers with the current freeze, or 404 if there is none.
package main

import (
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/function"
	"wavegate/shared/operations/freezes"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(freezes.GetFreeze(), wire) }

func wire(env lambdahttp.Env) function.Handler[struct{}] {
	freezes := freeze.NewStore(env.DB)
	return func(c *function.Call, _ struct{}) (lambdahttp.Answer, error) {
		f, err := freezes.Get(c.Context())
		return lambdahttp.OK(f, input.Revision(f.Revision)), err
	}
}
