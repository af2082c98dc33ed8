// Command put-freeze refuses every publication, start, promotion and resumption until a given time. It replaces an
// earlier freeze: 201 if there was none, 204 otherwise. Halts are still allowed.
package main

import (
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/function"
	"wavegate/shared/operations/freezes"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(freezes.PutFreeze(), wire) }

func wire(env lambdahttp.Env) function.Handler[freeze.Wish] {
	freezes := freeze.NewStore(env.DB)
	return func(c *function.Call, in freeze.Wish) (lambdahttp.Answer, error) {
		created, err := freezes.Set(c.Context(), c.Origin(), in, c.When)
		return lambdahttp.Stored(created), err
	}
}
