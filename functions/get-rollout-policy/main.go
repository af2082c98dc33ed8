// Command get-rollout-policy answers with the policy by which the guard judges a rollout, or 404 if the rollout is
// managed manually.
package main

import (
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
)

func main() { function.Run(rollouts.GetRolloutPolicy(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		r, err := rollouts.Get(c.Context(), id)
		if err == nil && r.Terms == nil {
			err = problem.New(problem.NotFound, "The rollout has no policy; it is managed manually.")
		}
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		return lambdahttp.OK(r.Terms.Policy, input.Revision(r.Revision)), nil
	}
}
