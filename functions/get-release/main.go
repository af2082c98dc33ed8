// Command get-release answers with what is known of a version: what was published, what is said of it, and where it ran.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/release"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(releases.GetRelease(), wire) }

func wire(env lambdahttp.Env) function.Handler[release.Named] {
	counts := census.NewReader(env.DB, census.ReadSettings(env.Settings))
	return func(c *function.Call, in release.Named) (lambdahttp.Answer, error) {
		found, err := counts.Release(c.Context(), in)
		return lambdahttp.Present(found), err
	}
}
