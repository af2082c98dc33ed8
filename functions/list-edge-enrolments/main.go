// Command list-edge-enrolments lists the enrolments of the caller's organization, newest first. A platform owner names an
// organization.
package main

import (
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(enrolments.ListEdgeEnrolments, wire) }

func wire(env lambdahttp.Env) function.Handler {
	enrolments := enrolment.NewReader(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route()}
		place := paging.ByOffset(c.Reader)
		organization, filter := c.Organization()
		query.Filter = filter
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[enrolment.Enrolment], error) {
			return enrolments.List(c.Context(), c.Caller, organization, w)
		})
	}
}
