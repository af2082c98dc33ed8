package operations

import (
	"net/http"
	"slices"
	"time"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// The operations on the audit trail.
var trailRows = []Operation{
	{
		ID: "list-audit-events", Summary: "List the changes on the platform, newest first",
		Method: http.MethodGet, Path: "/api/audit-events",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes:  input.Takes{Query: slices.Concat(audit.FilterQuery, paging.CursorQuery)},
		Gives:  shown,
		Grants: []Grant{list(dynamo.Audit, "byResource", "byActor", "byResourceAndActor")},
	},
	{
		ID: "list-factory-audit-events", Summary: "List the changes in a factory, newest first",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/audit-events",
		Roles: auditors, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: factoryPath, Query: slices.Concat(audit.FilterQuery, paging.CursorQuery)},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Audit, "byResource", "byActor", "byResourceAndActor"),
		},
	},
	{
		ID: "export-organization", Summary: "Read everything that the service stores about an organization",
		Method: http.MethodGet, Path: "/api/organizations/{organizationId}/export",
		Roles: keepers, Limit: ratelimit.Ordinary, Timeout: exportTimeout, MemoryMB: memory,
		Takes: input.Takes{Path: organizationPath, Query: paging.CursorQuery},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			list(dynamo.Gateways), list(dynamo.RateOverrides), list(dynamo.RateCounters),
			listByIndex(dynamo.Edges, "byOrganization"), list(dynamo.Reports),
			list(dynamo.Enrolments, "byOrganization"),
			listByIndex(dynamo.Factories, "byOrganization"), list(dynamo.Machines),
			list(dynamo.Recipes), list(dynamo.MethodVersions), list(dynamo.MethodContents), list(dynamo.MethodReports),
			list(dynamo.Progress), // recalls
			list(dynamo.Audit, "byOrganization"),
		},
	},
}

// exportTimeout allows for a page of 200 requests to the database, each of which may be retried.
const exportTimeout = 20 * time.Second
