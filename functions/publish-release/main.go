// Command publish-release publishes a version on a release channel: 201 if the channel is new, 204 otherwise. Every box
// of the channel resolves the version at its next manifest poll. An active rollout on the channel ends.
package main

import (
	"net/http"

	"wavegate/shared/fleet/program"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.PublishRelease(), wire) }

func wire(env lambdahttp.Env) function.Handler[release.PublicationRequest] {
	publications := publication.NewStore(env.DB)
	return func(c *function.Call, in release.PublicationRequest) (lambdahttp.Answer, error) {
		if err := program.MayPublish(c.Caller, in.Publication, in.Grounds); err != nil {
			return lambdahttp.Answer{}, err
		}
		made, err := publications.For(c.Caller).Publish(c.Context(), c.Origin().For(in.Grounds), in.Publication, c.When)
		answer := lambdahttp.Stored(made.Created)
		if warning := made.Untold(); warning != "" && err == nil {
			answer.Header = http.Header{lambdahttp.Warning: {warning}}
		}
		return c.Settled(answer, err)
	}
}
