// Command get-method-content returns the exact bytes of a version's content. A box may read
// versions on trial or released in its own factory.
package main

import (
	"encoding/json"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.GetMethodContent, wire) }

func wire(env lambdahttp.Env) function.Handler {
	methods := method.NewStore(env.DB).ForBoxes(boxauth.ReadIssuers(env.Settings).Speak)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		ref := method.RefOf(c.Reader)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		v, bytes, err := methods.Content(c.Context(), c.Caller, ref)
		return lambdahttp.OK(json.RawMessage(bytes), v.ETag()), err
	}
}
