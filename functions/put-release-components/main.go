// Command put-release-components stores a piece of what a version contains: 201 if the piece was missing, 204 otherwise.
package main

import (
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.PutReleaseComponents(), wire) }

func wire(env lambdahttp.Env) function.Handler[release.Piece] {
	publications := publication.NewStore(env.DB)
	return func(c *function.Call, in release.Piece) (lambdahttp.Answer, error) {
		if err := artifact.MayUpload(c.Caller, in.EdgeType); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := publications.For(c.Caller).Shelve(c.Context(), c.Origin(), in)
		return lambdahttp.Stored(created), err
	}
}
