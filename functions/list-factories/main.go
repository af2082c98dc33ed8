// Command list-factories lists the factories of the caller's organization. A platform owner may
// name another organization. For anyone else, another organization has no factories, whether it
// exists or not.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/factories"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/factory"
)

func main() { function.Run(factories.ListFactories, wire) }

func wire(env lambdahttp.Env) function.Handler {
	factories := factory.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route()}
		place := paging.ByOffset(c.Reader)
		organization, filter := c.Organization()
		query.Filter = filter
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[factory.Factory], error) {
			return factories.List(c.Context(), c.Caller, organization, w)
		})
	}
}
