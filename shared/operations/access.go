package operations

import (
	"net/http"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/dynamo"
)

// The operations on fair-use limits.
var access = []Operation{
	{
		ID: "put-rate-limit", Summary: "Set the fair-use limits of one user or organization",
		Method: http.MethodPut, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.RateOverrides, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-rate-limit", Summary: "Read the fair-use limits that were set for one user or organization",
		Method: http.MethodGet, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.RateOverrides, dynamo.Get)},
	},
	{
		ID: "delete-rate-limit", Summary: "Return one user or organization to the default limits",
		Method: http.MethodDelete, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.RateOverrides, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-my-rate-limits", Summary: "Read one's own limits and what is left of them",
		Method: http.MethodGet, Path: "/api/rate-limits/me",
		Roles: anyone, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.RateCounters, dynamo.Get)},
	},
}
