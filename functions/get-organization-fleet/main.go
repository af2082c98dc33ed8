// Command get-organization-fleet answers with the boxes of an organization by release channel, and what the rollouts there
// do with them.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(progress.GetOrganizationFleet(), wire) }

func wire(env lambdahttp.Env) function.Handler[census.OfFleet] {
	store := census.NewReader(env.DB, census.ReadSettings(env.Settings))
	return func(c *function.Call, in census.OfFleet) (lambdahttp.Answer, error) {
		f, err := store.Fleet(c.Context(), c.Caller, in)
		return lambdahttp.Present(f), err
	}
}
