// Command delete-rate-limit removes the override of a user or an organization. It answers 204, and
// the default limits apply from the next call on. It answers 404 if there is no override.
package main

import (
	"net/http"

	"wavegate/shared/function"
	"wavegate/shared/operations/limits"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(limits.DeleteRateLimit(), wire) }

func wire(env lambdahttp.Env) function.Handler[ratelimit.Target] {
	overrides := ratelimit.NewOverrideStore(env.DB)
	return func(c *function.Call, target ratelimit.Target) (lambdahttp.Answer, error) {
		err := overrides.Delete(c.Context(), c.Origin(), target.Of(c.Caller.Issuer), c.When)
		return lambdahttp.Empty(http.StatusNoContent), err
	}
}
