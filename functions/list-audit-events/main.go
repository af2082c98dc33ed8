// Command list-audit-events lists the changes on the platform (channels, rollouts, factories and
// limits) or of boxes, the newest first. Filters are times, a resource and an actor. Who does not see all organizations is
// shown the changes of their own.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/trails"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/trail/audit"
)

func main() { function.Run(trails.ListAuditEvents(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[audit.Filter, paging.Cursor]] {
	trail := audit.NewLog(env.DB)
	return func(c *function.Call, in paging.Asked[audit.Filter, paging.Cursor]) (lambdahttp.Answer, error) {
		filter, cursor := in.List, in.Page
		query := paging.Query{Path: c.Route(), Filter: filter.Values(), Of: c.Caller.Only()}
		after, err := cursor.Position(query, audit.IsPosition)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		page, err := trail.For(c.Context(), c.Caller, filter, after, cursor.Limit)
		return paging.Series(c, query, cursor.Limit, page, audit.Position), err
	}
}
