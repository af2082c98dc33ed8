// Command get-rollout answers with a rollout.
package main

import (
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(rollouts.GetRollout, wire) }

func wire(env lambdahttp.Env) function.Handler {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("id")
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		r, err := rollouts.Get(c.Context(), id)
		return lambdahttp.OK(r, input.Revision(r.Revision)), err
	}
}
