// Command get-machine-content returns the exact bytes of a version's content as a text, and what of it is for one machine: its
// steps, the overrides for it and its documents, as JSON pointers. Who may read what is as with get-method-content.
package main

import (
	"encoding/json"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/function"
	"wavegate/shared/operations/methods"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/method"
)

func main() { function.Run(methods.GetMachineContent(), wire) }

func wire(env lambdahttp.Env) function.Handler[method.MachineRef] {
	methods := method.NewStore(env.DB).ForBoxes(boxauth.ReadIssuers(env.Settings).Speak)
	return func(c *function.Call, on method.MachineRef) (lambdahttp.Answer, error) {
		read, err := methods.ContentFor(c.Context(), c.Caller, on.Ref, on.Code)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		body, etag, err := read.Encode()
		return lambdahttp.OK(json.RawMessage(body), etag), err
	}
}
