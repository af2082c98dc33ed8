// Command get-manifest answers a box's poll: what it is to run. It is nearly all the traffic of a
// fleet; edge.Polls says what a poll costs, and edge.Resolve what a box is told.
package main

import (
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/value"
)

func main() { function.Run("get-manifest", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	polls := edge.NewPolls(env.DB, edge.ReadSettings(env.Settings), env.Now)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		id := c.Path("edgeId", value.Name)
		installed, _ := c.Query("installed", edge.InstalledRule)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		if !c.Caller.Has(auth.PlatformOwner) && c.Caller.UserID != id {
			return lambdahttp.Answer{}, problem.Missing() // a box may not know of others
		}
		manifest, err := polls.Manifest(c.Context(), id, installed)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		body, etag, err := manifest.Encode()
		return lambdahttp.OK(body, etag), err
	}
}
