// Command publish-release puts a version on a release channel: 201 when the channel is new, 204 when
// it was there. The boxes of the channel resolve the version at their next manifest poll.
package main

import (
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/value"
)

func main() { function.Run("publish-release", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	channels := release.NewStore(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		body := c.Body()
		p := release.Publication{
			EdgeType:       c.Path("edgeType", value.Name),
			Channel:        c.Path("channel", value.Name),
			CurrentVersion: body.Text("currentVersion", release.VersionRule),
			ArtifactURL:    body.Text("artifactUrl", release.ArtifactURLRule),
			SHA256:         body.Text("sha256", value.SHA256),
		}
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := channels.Publish(c.Context(), c.Origin(), p, when)
		return lambdahttp.Stored(created), err
	}
}
