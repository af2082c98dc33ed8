// Package limits has the rows of the operations on fair-use limits.
package limits

import (
	"net/http"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/ratelimit"
)

// The rows.
var (
	PutRateLimit = func() operations.Row[input.Sent[ratelimit.Target, ratelimit.OverrideSpec]] {
		return operations.New(operations.Operation{
			ID: "put-rate-limit", Summary: "Set the fair-use limits of one user or organization",
			Method: http.MethodPut, Path: "/api/rate-limits/{kind}/{id}",
			Roles: operations.Owners, Limit: ratelimit.Reserved,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Stored,
			Grants: []operations.Grant{
				operations.May(dynamo.RateOverrides, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(ratelimit.ReadTarget, ratelimit.ReadOverrideSpec))
	}

	GetRateLimit = func() operations.Row[ratelimit.Target] {
		return operations.New(operations.Operation{
			ID: "get-rate-limit", Summary: "Read the fair-use limits that were set for one user or organization",
			Method: http.MethodGet, Path: "/api/rate-limits/{kind}/{id}",
			Roles: operations.Owners, Limit: ratelimit.Reserved,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.RateOverrides, dynamo.Get)},
		}, ratelimit.ReadTarget)
	}

	DeleteRateLimit = func() operations.Row[ratelimit.Target] {
		return operations.New(operations.Operation{
			ID: "delete-rate-limit", Summary: "Return one user or organization to the default limits",
			Method: http.MethodDelete, Path: "/api/rate-limits/{kind}/{id}",
			Roles: operations.Owners, Limit: ratelimit.Reserved,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.RateOverrides, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, ratelimit.ReadTarget)
	}

	GetMyRateLimits = func() operations.Row[struct{}] {
		return operations.New(operations.Operation{
			ID: "get-my-rate-limits", Summary: "Read the caller's own limits and what is left of them",
			Method: http.MethodGet, Path: "/api/rate-limits/me",
			Roles:  operations.Anyone,
			Gives:  operations.Shown,
			Grants: []operations.Grant{operations.May(dynamo.RateCounters, dynamo.Get)},
		}, operations.Nothing)
	}
)
