// Command approve-rollout-stage records a second person's approval of a stage of a rollout: 204, also if the caller has
// already approved it.
package main

import (
	"net/http"

	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/trail/audit"
)

func main() { function.Run(rollouts.ApproveRolloutStage, wire) }

func wire(env lambdahttp.Env) function.Handler {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("id")
		body := c.Body()
		stage := body.Integer("stage")
		reason, _ := body.OptionalText("reason")
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		err := rollouts.Approve(c.Context(), c.Origin().For(audit.Grounds{Reason: reason}), id, int(stage), when)
		return lambdahttp.Empty(http.StatusNoContent), err
	}
}
