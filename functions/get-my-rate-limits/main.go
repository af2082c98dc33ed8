// Command get-my-rate-limits answers with the caller's own fair-use limits and what is left of them.
// The call itself counts once, like any call, and the answer includes it.
package main

import (
	"wavegate/shared/access/auth"
	"wavegate/shared/function"
	"wavegate/shared/operations/limits"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func main() { function.Run(limits.GetMyRateLimits(), wire) }

type answer struct {
	Issuer         string                 `json:"issuer"`
	UserID         string                 `json:"userId"`
	OrganizationID string                 `json:"organizationId,omitempty"`
	Limits         []ratelimit.LimitUsage `json:"limits"`
}

func wire(env lambdahttp.Env) function.Handler[struct{}] {
	settings := ratelimit.ReadSettings(env.Settings)
	return func(c *function.Call, _ struct{}) (lambdahttp.Answer, error) {
		// Unlike other reads, this one depends on what the limiter writes, so it waits for the limiter.
		if err := admission.Wait(c.Context()); err != nil {
			return lambdahttp.Answer{}, err
		}
		usages, err := ratelimit.ReadUsage(c.Context(), env.API, settings.Limits, env.Now(), ratelimit.Caller{
			User: c.Caller.User(), Organization: c.Caller.OrganizationID, Box: c.Caller.Has(auth.Edge),
		})
		return lambdahttp.Present(answer{c.Caller.Issuer, c.Caller.UserID, c.Caller.OrganizationID, usages}), err
	}
}
