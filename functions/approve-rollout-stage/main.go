// Command approve-rollout-stage records a second person's approval of a stage of a rollout: 204, also if the caller has
// already approved it.
package main

import (
	"net/http"

	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/trail/audit"
)

func main() { function.Run(rollouts.ApproveRolloutStage(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, rollout.ApprovalRequest]] {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[string, rollout.ApprovalRequest]) (lambdahttp.Answer, error) {
		if err := c.Caller.Fresh(env.Settings, env.Now()); err != nil {
			return lambdahttp.Answer{}, err
		}
		err := rollouts.Approve(c.Context(), c.Origin().For(audit.Grounds{Reason: in.Body.Reason}), in.Path, in.Body.Stage, c.When)
		return c.Settled(lambdahttp.Empty(http.StatusNoContent), err)
	}
}
