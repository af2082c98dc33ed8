// Command get-machine-methods answers the poll of a machine's controller: which versions of methods hold on the
// machine, which follow, and which were withdrawn. method.MachinePolls says what a poll costs.
package main

import (
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.GetMachineMethods(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[method.PollRequest, paging.Cursor]] {
	polls := method.NewMachinePolls(env.DB, env.Settings, boxauth.ReadIssuers(env.Settings).Speak)
	return func(c *function.Call, in paging.Asked[method.PollRequest, paging.Cursor]) (lambdahttp.Answer, error) {
		question, cursor := in.List, in.Page
		query := paging.Query{Path: c.Route()}
		after, err := cursor.Position(query, input.UUID.Accepts)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		question.After, question.Limit = after, cursor.Limit
		poll, err := polls.Poll(c.Context(), c.Caller, question, c.Href)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		if poll.Last != "" {
			poll.Next = query.After(c, cursor.Limit, poll.Last)
		}
		body, etag, err := poll.Encode()
		return lambdahttp.OK(body, etag), err
	}
}
