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

func main() { function.Run(methods.GetMethodContent(), wire) }

func wire(env lambdahttp.Env) function.Handler[method.Ref] {
	methods := method.NewStore(env.DB).ForBoxes(boxauth.ReadIssuers(env.Settings).Speak)
	return func(c *function.Call, ref method.Ref) (lambdahttp.Answer, error) {
		v, bytes, err := methods.Content(c.Context(), c.Caller, ref)
		return lambdahttp.OK(json.RawMessage(bytes), v.ETag()), err
	}
}
