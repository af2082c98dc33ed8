// Command put-release says more of a version: 201 if nothing was said of it before, 204 otherwise.
package main

import (
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.PutRelease(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[release.Named, release.SaidWish]] {
	publications := publication.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[release.Named, release.SaidWish]) (lambdahttp.Answer, error) {
		created, err := publications.Describe(c.Context(), c.Origin(), in.Path, in.Body)
		return lambdahttp.Stored(created), err
	}
}
