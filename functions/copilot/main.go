// Command copilot forwards a call to the assistant and answers with what it answers.
package main

import (
	"wavegate/shared/copilot"
	"wavegate/shared/platform/lambdahttp"
)

func main() { lambdahttp.Run("copilot", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	settings, err := copilot.SettingsFromEnv()
	env.Require(err)
	assistant := copilot.New(settings)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		serve, err := assistant.Forward(c.Request, c.Request.PathValue("proxy"), c.Caller, c.RequestID)
		return lambdahttp.Answer{Serve: serve}, err
	}
}
