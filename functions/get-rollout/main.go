// Command get-rollout answers with a rollout.
package main

import (
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(rollouts.GetRollout(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		r, err := rollouts.Get(c.Context(), id)
		return lambdahttp.OK(r, input.Revision(r.Revision)), err
	}
}
