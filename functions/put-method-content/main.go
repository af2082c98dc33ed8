// Command put-method-content saves the content of a version. It answers 201 if the version is
// new, 204 otherwise. method.Method.Save says when it is refused, and package content what a
// content may contain.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/content"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.PutMethodContent, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		version := method.RefOf(c.Reader)
		saved := content.Read(c.Body())
		when := c.Preconditions()
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		created, err := methods.Save(c.Context(), c.Caller, c.Origin(), version, saved, when)
		return lambdahttp.Stored(created), err
	}
}
