// Command put-freeze refuses every publication, start, promotion and resumption until a given time. It replaces an
// earlier freeze: 201 if there was none, 204 otherwise. Halts are still allowed.
package main

import (
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/function"
	"wavegate/shared/operations/freezes"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(freezes.PutFreeze, wire) }

func wire(env lambdahttp.Env) function.Handler {
	freezes := freeze.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		wish := freeze.WishOf(c.Body())
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := freezes.Set(c.Context(), c.Origin(), wish, when)
		return lambdahttp.Stored(created), err
	}
}
