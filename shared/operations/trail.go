package operations

import (
	"net/http"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/dynamo"
)

// The operations on the audit trail.
var trail = []Operation{
	{
		ID: "list-audit-events", Summary: "List the changes on the platform, newest first",
		Method: http.MethodGet, Path: "/api/audit-events",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{list(dynamo.Audit, "byResource", "byActor", "byResourceAndActor")},
	},
	{
		ID: "list-factory-audit-events", Summary: "List the changes in a factory, newest first",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/audit-events",
		Roles: auditors, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Audit, "byResource", "byActor", "byResourceAndActor"),
		},
	},
}
