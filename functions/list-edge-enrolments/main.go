// Command list-edge-enrolments lists the enrolments of the caller's organization, newest first. A platform owner names an
// organization.
package main

import (
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(enrolments.ListEdgeEnrolments(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[operations.Organization, paging.Place]] {
	enrolments := enrolment.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[operations.Organization, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route(), Filter: in.List.Filter()}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[enrolment.Enrolment], error) {
			return enrolments.List(c.Context(), c.Caller, in.List.ID, w)
		})
	}
}
