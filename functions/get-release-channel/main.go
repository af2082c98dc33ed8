// Command get-release-channel answers with what is published on a release channel.
package main

import (
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.GetReleaseChannel(), wire) }

func wire(env lambdahttp.Env) function.Handler[release.Name] {
	channels := release.NewStore(env.DB)
	return func(c *function.Call, in release.Name) (lambdahttp.Answer, error) {
		view, etag, err := channels.View(c.Context(), in.EdgeType, in.Channel)
		return lambdahttp.OK(view, etag), err
	}
}
