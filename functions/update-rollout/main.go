// Command update-rollout promotes a rollout to the next stage, halts, resumes or completes it: 204.
// rollout.Rollout.After says what a move does and when it is refused.
package main

import (
	"net/http"

	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/trail/audit"
)

func main() { function.Run(rollouts.UpdateRollout, wire) }

func wire(env lambdahttp.Env) function.Handler {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("id")
		body := c.Body()
		percent, raises := body.OptionalInteger("staged_percent")
		status, _ := body.OptionalText("status")
		grounds := audit.GroundsOf(body)
		body.RequireAny()
		if raises && rollout.Status(status) == rollout.Active {
			body.Fault("status", "exclusive", "active must not be given together with staged_percent")
		}
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		move := rollout.Move{Status: rollout.Status(status)}
		if raises {
			move.StagedPercent = new(int(percent))
		}
		_, err := rollouts.Move(c.Context(), c.Origin().For(grounds), id, move, when)
		return lambdahttp.Empty(http.StatusNoContent), err
	}
}
