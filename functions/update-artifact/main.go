// Command update-artifact finishes the upload of an artifact: 200 if the store has the bytes.
package main

import (
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/function"
	"wavegate/shared/operations/artifacts"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(artifacts.UpdateArtifact(), wire) }

func wire(env lambdahttp.Env) function.Handler[artifact.Name] {
	artifacts := artifact.NewStore(env.DB, artifact.ReadBucket(env.Settings, env.Now, env.Metrics))
	return func(c *function.Call, in artifact.Name) (lambdahttp.Answer, error) {
		if err := artifact.MayUpload(c.Caller, in.EdgeType); err != nil {
			return lambdahttp.Answer{}, err
		}
		kept, err := artifacts.Finish(c.Context(), c.Origin(), in)
		return lambdahttp.Present(kept), err
	}
}
