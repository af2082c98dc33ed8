// Command delete-rate-limit takes the fair-use limits of a user or an organization back: 204, and the
// defaults apply from the next call on; 404 where they applied already.
package main

import (
	"net/http"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run("delete-rate-limit", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	overrides := ratelimit.NewOverrides(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		holder := ratelimit.HolderOf(c.Input, c.Caller.Issuer)
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		err := overrides.Delete(c.Context(), c.Origin(), holder, when)
		return lambdahttp.Empty(http.StatusNoContent), err
	}
}
