// Command put-method-content saves the content of a version. It answers 201 if the version is
// new, 204 otherwise. method.Method.Save says when it is refused, and package content what a
// content may contain.
package main

import (
	"net/http"

	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/content"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.PutMethodContent(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[method.Ref, content.Content]] {
	methods := method.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[method.Ref, content.Content]) (lambdahttp.Answer, error) {
		created, err := methods.Save(c.Context(), c.Caller, c.Origin(), in.Path, in.Body, c.When)
		answer := lambdahttp.Stored(created)
		if doubts := in.Body.Warning(); err == nil && doubts != "" {
			answer.Header = http.Header{lambdahttp.Warning: {doubts}}
		}
		return answer, err
	}
}
