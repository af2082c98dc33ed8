// Command delete-artifact deletes an artifact that nothing uses: 204. Its bytes go seven days later.
package main

import (
	"net/http"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/usage"
	"wavegate/shared/function"
	"wavegate/shared/operations/artifacts"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(artifacts.DeleteArtifact(), wire) }

func wire(env lambdahttp.Env) function.Handler[artifact.Removal] {
	artifacts, finder := artifact.NewStore(env.DB, artifact.ReadBucket(env.Settings, env.Now, env.Metrics)), usage.NewFinder(env.DB, census.ReadSettings(env.Settings))
	return func(c *function.Call, in artifact.Removal) (lambdahttp.Answer, error) {
		err := artifacts.Delete(c.Context(), c.Origin().For(in.Grounds), in.Name, finder.Of)
		return lambdahttp.Empty(http.StatusNoContent), err
	}
}
