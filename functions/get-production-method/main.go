// Command get-production-method answers with a production method of a factory that the caller may
// know of.
package main

import (
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/request"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
)

func main() { lambdahttp.Run("get-production-method", wire) }

func wire(env lambdahttp.Env) lambdahttp.Handler {
	methods := method.NewStore(env.DB)
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		factoryID := c.Path("factoryId", factory.SlugRule)
		id := c.Path("methodId", request.UUID)
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		m, err := methods.Get(c.Context(), c.Caller, factoryID, id)
		return lambdahttp.OK(m, request.Revision(m.Revision)), err
	}
}
