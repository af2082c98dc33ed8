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

func main() { function.Run(limits.GetRateLimit(), wire) }

func wire(env lambdahttp.Env) function.Handler[ratelimit.Target] {
	overrides := ratelimit.NewOverrideStore(env.DB)
	return func(c *function.Call, target ratelimit.Target) (lambdahttp.Answer, error) {
		a, err := overrides.Get(c.Context(), target.Of(c.Caller.Issuer))
		return lambdahttp.OK(a, input.Revision(a.Revision)), err
	}
}
