// Command put-method-confirmation stores a person's word that a machine no longer has a withdrawn version. It answers 201
// for the first word about the machine and the method, 204 otherwise. method.Store.Confirm says when it is refused.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.PutMethodConfirmation(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[method.Confirmed, string]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[method.Confirmed, string]) (lambdahttp.Answer, error) {
		now, err := methods.Confirm(c.Context(), c.Caller, c.Origin(), in.Path.Ref, method.Confirmations{Machines: []string{in.Path.Machine}, Reason: in.Body})
		return lambdahttp.Stored(now.First()), err
	}
}
