// Command list-factory-audit-events lists the changes in a factory that the caller may read, the
// newest first. Filters are times, a resource and an actor.
package main

import (
	"context"

	"wavegate/shared/function"
	"wavegate/shared/operations/trails"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
)

func main() { function.Run(trails.ListFactoryAuditEvents(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[trails.FactoryEvents, paging.Cursor]] {
	factories, trail := factory.NewStore(env.DB), audit.NewLog(env.DB)
	return func(c *function.Call, in paging.Asked[trails.FactoryEvents, paging.Cursor]) (lambdahttp.Answer, error) {
		factoryID, filter, cursor := in.List.FactoryID, in.List.Filter, in.Page
		query := paging.Query{Path: c.Route(), Filter: filter.Values()}
		after, err := cursor.Position(query, audit.IsPosition)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		page, err := factory.ReadInParallel(c.Context(), factories, c.Caller, factoryID, func(ctx context.Context) (dynamo.Page[audit.Event], error) {
			return trail.List(ctx, audit.Factory(factoryID), filter, after, cursor.Limit)
		})
		return paging.Series(c, query, cursor.Limit, page, audit.Position), err
	}
}
