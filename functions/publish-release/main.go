// Command publish-release publishes a version on a release channel: 201 if the channel is new, 204 otherwise. Every box
// of the channel resolves the version at its next manifest poll. An active rollout on the channel ends.
package main

import (
	"wavegate/shared/fleet/program"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/trail/audit"
)

func main() { function.Run(releases.PublishRelease, wire) }

func wire(env lambdahttp.Env) function.Handler {
	publications := publication.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		body := c.Body()
		p := release.Publication{
			EdgeType:       c.Path("edgeType"),
			Channel:        c.Path("channel"),
			CurrentVersion: body.Text("currentVersion"),
			ArtifactURL:    body.Text("artifactUrl"),
			SHA256:         body.Text("sha256"),
		}
		p.SizeBytes, _ = body.OptionalInteger("sizeBytes")
		p.SHA1, _ = body.OptionalText("sha1")
		p.MD5, _ = body.OptionalText("md5")
		p.Part, _ = body.OptionalText("part")
		p.ArtifactHTTPURL, _ = body.OptionalText("artifactHttpUrl")
		p.DownloadWithoutToken = body.Boolean("downloadWithoutToken")
		grounds := audit.GroundsOf(body)
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		if err := program.MayPublish(c.Caller, p, grounds); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := publications.Publish(c.Context(), c.Origin().For(grounds), p, when)
		return lambdahttp.Stored(created), err
	}
}
