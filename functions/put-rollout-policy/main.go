// Command put-rollout-policy sets the policy by which the guard judges a rollout from its next verdict on: 204. Omitted
// fields are as in guard.Default.
package main

import (
	"net/http"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(rollouts.PutRolloutPolicy, wire) }

func wire(env lambdahttp.Env) function.Handler {
	rollouts := rollout.NewStore(env.DB)
	interval := guard.Interval(env.Settings)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("id")
		policy := guard.Read(c.Body(), interval)
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		err := rollouts.SetPolicy(c.Context(), c.Origin(), id, policy, when)
		return lambdahttp.Empty(http.StatusNoContent), err
	}
}
