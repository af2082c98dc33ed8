// Command copilot forwards a call to the assistant and returns its answer.
package main

import (
	"wavegate/shared/copilot"
	"wavegate/shared/function"
	"wavegate/shared/operations/assistant"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/secret"
)

func main() { function.Run(assistant.Copilot(), wire) }

func wire(env lambdahttp.Env) function.Handler[struct{}] {
	assistant := copilot.New(copilot.ReadSettings(env.Settings), secret.NewClient(), env.Now)
	return func(c *function.Call, _ struct{}) (lambdahttp.Answer, error) {
		serve, err := assistant.Forward(c.Request, c.Request.PathValue("proxy"), c.Caller, c.RequestID)
		return lambdahttp.Answer{Serve: serve}, err
	}
}
