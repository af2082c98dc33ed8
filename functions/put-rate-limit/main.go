// Command put-rate-limit sets the override of a user or an organization. It answers 201 if there was
// none, and 204 if it replaced one. The override applies from the next call on.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/limits"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(limits.PutRateLimit(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[ratelimit.Target, ratelimit.OverrideSpec]] {
	overrides := ratelimit.NewOverrideStore(env.DB)
	return func(c *function.Call, in input.Sent[ratelimit.Target, ratelimit.OverrideSpec]) (lambdahttp.Answer, error) {
		created, err := overrides.Put(c.Context(), c.Origin(), in.Path.Of(c.Caller.Issuer), in.Body, c.When)
		return lambdahttp.Stored(created), err
	}
}
