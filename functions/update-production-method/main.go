// Command update-production-method renames, retires or reopens a method. It answers 200 with the method.
package main

import (
	"net/http"

	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.UpdateProductionMethod(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[method.Ref, method.Update]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[method.Ref, method.Update]) (lambdahttp.Answer, error) {
		now, err := methods.Update(c.Context(), c.Caller, c.Origin(), in.Path, in.Body, c.When)
		return lambdahttp.Answer{Status: http.StatusOK, Body: now}, err
	}
}
