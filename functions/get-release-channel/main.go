// Command get-release-channel answers with what is published on a release channel.
package main

import (
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.GetReleaseChannel, wire) }

func wire(env lambdahttp.Env) function.Handler {
	channels := release.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		edgeType := c.Path("edgeType")
		name := c.Path("channel")
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		row, err := channels.Get(c.Context(), edgeType, name)
		return lambdahttp.OK(row.View(), row.ETag()), err
	}
}
