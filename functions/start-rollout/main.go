// Command start-rollout starts a staged rollout of a published version on a release channel, at 1
// percent: 201 with its Location. A rollout has the default policy unless the caller says otherwise.
package main

import (
	"wavegate/shared/fleet/program"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(rollouts.StartRollout(), wire) }

func wire(env lambdahttp.Env) function.Handler[rollout.PlanRequest] {
	rollouts := rollout.NewStore(env.DB)
	return func(c *function.Call, in rollout.PlanRequest) (lambdahttp.Answer, error) {
		if err := program.MayStart(c.Caller, in.EdgeType, in.Channel, in.OwnPolicy, in.Urgent, in.Grounds); err != nil {
			return lambdahttp.Answer{}, err
		}
		id, err := rollouts.Start(c.Context(), c.Origin().For(in.Grounds), in.Plan, c.Claim)
		return c.Settled(lambdahttp.Created(c.Href(c.Route()+"/"+id)), err)
	}
}
