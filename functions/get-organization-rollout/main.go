// Command get-organization-rollout answers with what a rollout does with the boxes of an organization.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(progress.GetOrganizationRollout(), wire) }

func wire(env lambdahttp.Env) function.Handler[census.OfOwnRollout] {
	store := census.NewReader(env.DB, census.ReadSettings(env.Settings))
	return func(c *function.Call, in census.OfOwnRollout) (lambdahttp.Answer, error) {
		o, err := store.OwnRollout(c.Context(), c.Caller, in)
		return lambdahttp.Present(o), err
	}
}
