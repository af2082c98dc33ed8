// Command delete-freeze lifts the freeze: 204, or 404 if there is none.
package main

import (
	"net/http"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/function"
	"wavegate/shared/operations/freezes"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(freezes.DeleteFreeze(), wire) }

func wire(env lambdahttp.Env) function.Handler[struct{}] {
	freezes := freeze.NewStore(env.DB)
	return func(c *function.Call, _ struct{}) (lambdahttp.Answer, error) {
		err := freezes.Lift(c.Context(), c.Origin(), c.When)
		return lambdahttp.Empty(http.StatusNoContent), err
	}
}
