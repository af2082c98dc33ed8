// Command list-factories lists the factories of the caller's organization. A platform owner may
// name another organization. For anyone else, another organization has no factories, whether it
// exists or not.
package main

import (
	"net/url"

	"wavegate/shared/function"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/factory"
)

func main() { function.Run("list-factories", wire) }

func wire(env lambdahttp.Env) function.Handler {
	factories := factory.NewStore(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		query := paging.Query{Path: "/api/factories"}
		organization, named := c.Query("organizationId")
		place := paging.ByOffset(c.Reader)
		switch {
		case named:
			query.Filter = url.Values{"organizationId": {organization}}
		case c.Caller.OrganizationID != "":
			organization = c.Caller.OrganizationID
		default:
			c.Fault("organizationId", "required", "is required of a caller without an organization")
		}
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return paging.List(c, query, place, func(w dynamo.Span) (dynamo.Page[factory.Factory], error) {
			return factories.List(c.Context(), c.Caller, organization, w)
		})
	}
}
