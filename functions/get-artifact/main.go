// Command get-artifact answers with an artifact, and with what uses it if the call asks for that.
package main

import (
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/usage"
	"wavegate/shared/function"
	"wavegate/shared/operations/artifacts"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(artifacts.GetArtifact(), wire) }

func wire(env lambdahttp.Env) function.Handler[artifact.Look] {
	artifacts, finder := artifact.NewStore(env.DB, artifact.ReadBucket(env.Settings, env.Now, env.Metrics)), usage.NewFinder(env.DB, census.ReadSettings(env.Settings))
	return func(c *function.Call, in artifact.Look) (lambdahttp.Answer, error) {
		if err := artifact.MayRead(c.Caller, in); err != nil {
			return lambdahttp.Answer{}, err
		}
		found, err := finder.Get(c.Context(), artifacts, in)
		return lambdahttp.Present(found), err
	}
}
