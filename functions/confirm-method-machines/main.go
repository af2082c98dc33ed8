// Command confirm-method-machines stores a person's word that several machines no longer have a withdrawn version, with one
// signature. It answers 200 with the machines.
package main

import (
	"net/http"

	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.ConfirmMethodMachines(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[method.Ref, method.Confirmations]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[method.Ref, method.Confirmations]) (lambdahttp.Answer, error) {
		now, err := methods.Confirm(c.Context(), c.Caller, c.Origin(), in.Path, in.Body)
		return lambdahttp.Answer{Status: http.StatusOK, Body: now}, err
	}
}
