// Command start-rollout starts a staged rollout of a published version on a release channel, at 1
// percent: 201 with its Location. A rollout has the default policy unless the caller says otherwise.
package main

import (
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/program"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/function"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/trail/audit"
)

func main() { function.Run(rollouts.StartRollout, wire) }

func wire(env lambdahttp.Env) function.Handler {
	rollouts := rollout.NewStore(env.DB)
	interval := guard.Interval(env.Settings)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		body := c.Body()
		plan := rollout.Plan{
			EdgeType:      body.Text("edgeType"),
			Channel:       body.Text("channel"),
			TargetVersion: body.Text("targetVersion"),
		}
		plan.Policy = new(guard.Default())
		ownPolicy := body.Null("policy")
		if ownPolicy {
			plan.Policy = nil
		} else {
			ownPolicy = body.Object("policy", func(o *input.Object) { *plan.Policy = guard.Read(o, interval) })
		}
		grounds := audit.GroundsOf(body)
		key := c.IdempotencyKey()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		if err := program.MayStart(c.Caller, plan.EdgeType, plan.Channel, ownPolicy, grounds); err != nil {
			return lambdahttp.Answer{}, err
		}
		claim, err := c.Claim(key, plan)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		id, err := rollouts.Start(c.Context(), c.Origin().For(grounds), plan, claim)
		return lambdahttp.Created(c.Href(c.Route() + "/" + id)), err
	}
}
