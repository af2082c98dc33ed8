// Command put-rate-limit sets the override of a user or an organization. It answers 201 if there was
// none, and 204 if it replaced one. The override applies from the next call on.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/limits"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(limits.PutRateLimit, wire) }

func wire(env lambdahttp.Env) function.Handler {
	overrides := ratelimit.NewOverrideStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		target := ratelimit.ReadTarget(c.Reader, c.Caller.Issuer)
		spec := ratelimit.ReadOverrideSpec(c.Body())
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := overrides.Put(c.Context(), c.Origin(), target, spec, when)
		return lambdahttp.Stored(created), err
	}
}
