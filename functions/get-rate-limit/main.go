// Command get-rate-limit answers with the fair-use limits that were arranged for a user or an
// organization; 404 where the defaults apply.
package main

import (
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/request"
)

func main() { function.Run("get-rate-limit", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	overrides := ratelimit.NewOverrides(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		holder := ratelimit.HolderOf(c.Input, c.Caller.Issuer)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		a, err := overrides.Get(c.Context(), holder)
		return lambdahttp.OK(a, request.Revision(a.Revision)), err
	}
}
