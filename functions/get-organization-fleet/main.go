// Command get-organization-fleet answers with the boxes of an organization by release channel, what the rollouts there do
// with them, its recalls that are not confirmed, and versions whose support ends.
package main

import (
	"context"

	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(progress.GetOrganizationFleet(), wire) }

// now is what the function answers.
type now struct {
	census.Fleet
	method.Warned
	census.Supports
}

func wire(env lambdahttp.Env) function.Handler[census.OfFleet] {
	store := census.NewReader(env.DB, census.ReadSettings(env.Settings))
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in census.OfFleet) (lambdahttp.Answer, error) {
		var now now
		err := dynamo.Together(c.Context(),
			func(ctx context.Context) (err error) { now.Fleet, err = store.Fleet(ctx, c.Caller, in); return err },
			func(ctx context.Context) (err error) {
				now.Supports, err = store.Support(ctx, in.OrganizationID)
				return err
			},
			func(ctx context.Context) (err error) {
				now.Recalls, err = methods.Unconfirmed(ctx, in.OrganizationID)
				return err
			})
		return lambdahttp.Present(now), err
	}
}
