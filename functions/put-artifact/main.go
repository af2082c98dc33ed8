// Command put-artifact answers where to upload an artifact: 201 with a signed URL of the store, or 200 without it if the
// bytes are there.
package main

import (
	"net/http"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/function"
	"wavegate/shared/operations/artifacts"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(artifacts.PutArtifact(), wire) }

func wire(env lambdahttp.Env) function.Handler[artifact.Wish] {
	artifacts := artifact.NewStore(env.DB, artifact.ReadBucket(env.Settings, env.Now, env.Metrics))
	return func(c *function.Call, in artifact.Wish) (lambdahttp.Answer, error) {
		if err := artifact.MayUpload(c.Caller, in.EdgeType); err != nil {
			return lambdahttp.Answer{}, err
		}
		asked, err := artifacts.Ask(c.Context(), c.Caller, c.Origin(), in)
		answer := lambdahttp.Present(asked)
		if asked.Upload != nil {
			answer.Status = http.StatusCreated
		}
		return answer, err
	}
}
