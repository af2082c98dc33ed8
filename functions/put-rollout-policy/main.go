// Command put-rollout-policy sets the policy by which the guard judges a rollout from its next verdict on: 204. Omitted
// fields are as in guard.Default.
package main

import (
	"net/http"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(rollouts.PutRolloutPolicy(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, guard.Policy]] {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[string, guard.Policy]) (lambdahttp.Answer, error) {
		err := rollouts.SetPolicy(c.Context(), c.Origin(), in.Path, in.Body, c.When)
		return c.Settled(lambdahttp.Empty(http.StatusNoContent), err)
	}
}
