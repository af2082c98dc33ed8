// Command update-method-version moves a version: it submits or returns it, puts it on trial, releases or withdraws it.
// It answers 200 with the outcome: the version, and which versions hold where. method.Method.Move says what a move
// does and when it is refused.
package main

import (
	"net/http"

	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.UpdateMethodVersion, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		version := method.RefOf(c.Reader)
		move := method.MoveOf(c.Body())
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		moved, err := methods.Move(c.Context(), c.Caller, c.Origin(), version, move, when)
		return lambdahttp.Answer{Status: http.StatusOK, Body: moved}, err
	}
}
