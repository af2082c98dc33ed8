// Command get-machine-methods answers the poll of a machine's controller: which versions of
// methods hold on the machine, which follow, and which were withdrawn. method.Polls says what a
// poll costs.
package main

import (
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run("get-machine-methods", wire) }

func wire(env lambdahttp.Env) function.Handler {
	polls := method.NewPolls(env.DB, env.Settings, edge.ReadIssuers(env.Settings).Speak)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		question := method.QuestionOf(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		poll, err := polls.Poll(c.Context(), c.Caller, question, c.Href)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		body, etag, err := poll.Encode()
		return lambdahttp.OK(body, etag), err
	}
}
