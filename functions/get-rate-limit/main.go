// Command get-rate-limit answers with the override of a user or an organization, or 404 if the
// default limits apply.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/limits"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(limits.GetRateLimit, wire) }

func wire(env lambdahttp.Env) function.Handler {
	overrides := ratelimit.NewOverrideStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		target := ratelimit.ReadTarget(c.Reader, c.Caller.Issuer)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		a, err := overrides.Get(c.Context(), target)
		return lambdahttp.OK(a, input.Revision(a.Revision)), err
	}
}
