// Command publish-release puts a version on a release channel: 201 when the channel is new, 204 when
// it was there. Every box of the channel resolves the version at its next manifest poll, and a rollout that
// is active on the channel ends.
package main

import (
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/trail/audit"
)

func main() { function.Run("publish-release", wire) }

func wire(env lambdahttp.Env) function.Handler {
	publications := publication.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		body := c.Body()
		p := release.Publication{
			EdgeType:       c.Path("edgeType", input.Name),
			Channel:        c.Path("channel", input.Name),
			CurrentVersion: body.Text("currentVersion", release.VersionRule),
			ArtifactURL:    body.Text("artifactUrl", input.HTTPSURL),
			SHA256:         body.Text("sha256", input.SHA256),
		}
		p.SizeBytes, _ = body.OptionalInteger("sizeBytes", release.SizeRule)
		p.SHA1, _ = body.OptionalText("sha1", release.SHA1Rule)
		p.MD5, _ = body.OptionalText("md5", release.MD5Rule)
		grounds := audit.GroundsOf(body)
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := publications.Publish(c.Context(), c.Origin().For(grounds), p, when)
		return lambdahttp.Stored(created), err
	}
}
