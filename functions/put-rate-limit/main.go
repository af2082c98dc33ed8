// Command put-rate-limit arranges fair-use limits of their own for a user or an organization, in place
// of the defaults or of what was arranged before: 201 when nothing was, 204 when something was. They
// act on the very next call.
package main

import (
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run("put-rate-limit", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	overrides := ratelimit.NewOverrides(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		holder := ratelimit.HolderOf(c.Input, c.Caller.Issuer)
		terms := ratelimit.TermsOf(c.Body())
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := overrides.Put(c.Context(), c.Origin(), holder, terms, when)
		return lambdahttp.Stored(created), err
	}
}
