// Command get-channel-progress answers with how many boxes of a release channel run each version, from the last count
// or a new one.
package main

import (
	"wavegate/shared/fleet/census"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(progress.GetChannelProgress(), wire) }

func wire(env lambdahttp.Env) function.Handler[census.OfChannel] {
	store := census.NewReader(env.DB, census.ReadSettings(env.Settings))
	return func(c *function.Call, in census.OfChannel) (lambdahttp.Answer, error) {
		p, err := store.Channel(c.Context(), in.EdgeType, in.Channel, in.Fresh)
		return lambdahttp.Present(p), err
	}
}
