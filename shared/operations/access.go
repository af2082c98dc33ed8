package operations

import (
	"net/http"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// The operations on fair-use limits.
var accessRows = []Operation{
	{
		ID: "put-rate-limit", Summary: "Set the fair-use limits of one user or organization",
		Method: http.MethodPut, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: ratelimit.TargetPath, Query: ratelimit.TargetQuery, Body: ratelimit.OverrideBody, Conditions: true},
		Gives: stored,
		Grants: []Grant{
			may(dynamo.RateOverrides, dynamo.Get, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-rate-limit", Summary: "Read the fair-use limits that were set for one user or organization",
		Method: http.MethodGet, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: ratelimit.TargetPath, Query: ratelimit.TargetQuery},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.RateOverrides, dynamo.Get)},
	},
	{
		ID: "delete-rate-limit", Summary: "Return one user or organization to the default limits",
		Method: http.MethodDelete, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: ratelimit.TargetPath, Query: ratelimit.TargetQuery, Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.RateOverrides, dynamo.Get, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-my-rate-limits", Summary: "Read the caller's own limits and what is left of them",
		Method: http.MethodGet, Path: "/api/rate-limits/me",
		Roles: anyone, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Gives:  shown,
		Grants: []Grant{may(dynamo.RateCounters, dynamo.Get)},
	},
}
