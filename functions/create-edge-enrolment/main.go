// Command create-edge-enrolment makes a code with which the listed new boxes register themselves: 201 with its
// Location, and with the code, which is shown only once.
package main

import (
	"context"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/factory"
)

func main() { function.Run(enrolments.CreateEdgeEnrolment(), wire) }

func wire(env lambdahttp.Env) function.Handler[enrolment.Plan] {
	enrolments, factories := enrolment.NewStore(env.DB), factory.NewStore(env.DB)
	return func(c *function.Call, plan enrolment.Plan) (lambdahttp.Answer, error) {
		if err := edge.MayInstall(c.Caller, plan.OrganizationID, plan.FactoryID, plan.EdgeType, plan.Channel); err != nil {
			return lambdahttp.Answer{}, err
		}
		var beside []func(context.Context) error
		if plan.FactoryID != "" {
			beside = append(beside, func(ctx context.Context) error { return factories.Of(ctx, plan.OrganizationID, plan.FactoryID) })
		}
		id, code, err := enrolments.Create(c.Context(), c.Origin(), plan, c.Claim, beside...)
		answer := lambdahttp.Created(c.Href(c.Route() + "/" + id))
		answer.Body = enrolment.Made{ID: id, Code: code, ExpiresAt: plan.ExpiresAt}
		return answer, err
	}
}
