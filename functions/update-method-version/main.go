// Command update-method-version moves a version: it submits or returns it, puts it on trial, releases or withdraws it.
// It answers 200 with the outcome: the version, and which versions hold where. method.Method.Move says what a move
// does and when it is refused.
package main

import (
	"net/http"

	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.UpdateMethodVersion(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[method.Ref, method.Move]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[method.Ref, method.Move]) (lambdahttp.Answer, error) {
		if in.Body.Approves() {
			if err := c.Caller.Fresh(env.Settings, env.Now()); err != nil {
				return lambdahttp.Answer{}, err
			}
		}
		moved, err := methods.Move(c.Context(), c.Caller, c.Origin(), in.Path, in.Body, c.When)
		return lambdahttp.Answer{Status: http.StatusOK, Body: moved}, err
	}
}
