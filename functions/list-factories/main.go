// Command list-factories lists the factories of the caller's organization. A platform owner may
// name another organization. For anyone else, another organization has no factories, whether it
// exists or not.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/operations/factories"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/factory"
)

func main() { function.Run(factories.ListFactories(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[operations.Organization, paging.Place]] {
	factories := factory.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[operations.Organization, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route(), Filter: in.List.Filter()}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[factory.Factory], error) {
			return factories.List(c.Context(), c.Caller, in.List.ID, w)
		})
	}
}
