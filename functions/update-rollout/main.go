// Command update-rollout promotes a rollout to the next stage, halts, resumes or completes it: 204.
// rollout.Rollout.After says what a move does and when it is refused.
package main

import (
	"net/http"

	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(rollouts.UpdateRollout(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, rollout.MoveRequest]] {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[string, rollout.MoveRequest]) (lambdahttp.Answer, error) {
		from, move := c.Origin().For(in.Body.Grounds), in.Body.Move
		var err error
		if in.Body.Everywhere {
			err = rollouts.HaltEverywhere(c.Context(), from, in.Path, move, c.When)
		} else {
			_, err = rollouts.Move(c.Context(), from, in.Path, move, c.When)
		}
		answer := lambdahttp.Empty(http.StatusNoContent)
		if move.Status == rollout.Halted { // a halt is answered at once
			return c.Unsettled(answer, env.Now()), err
		}
		return c.Settled(answer, err)
	}
}
