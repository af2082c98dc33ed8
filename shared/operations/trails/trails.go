// Package trails has the rows of the operations on the audit trail.
package trails

import (
	"net/http"
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// FactoryEvents are the events of a factory.
type FactoryEvents struct {
	FactoryID string
	audit.Filter
}

func factoryEvents(in *input.Reader) FactoryEvents {
	return FactoryEvents{operations.FactoryID(in), audit.FilterOf(in)}
}

func events(in *input.Reader) audit.Filter { return audit.FilterOf(in, audit.Boxes) }

// The rows.
var (
	ListAuditEvents = func() operations.Row[paging.Asked[audit.Filter, paging.Cursor]] {
		return operations.New(operations.Operation{
			ID: "list-audit-events", Summary: "List the changes on the platform, newest first",
			Method: http.MethodGet, Path: "/api/audit-events",
			Roles: operations.Watchers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.List(dynamo.Audit, "byResource", "byActor", "byResourceAndActor", "byOrganization")},
		}, paging.With(events, paging.ByCursor))
	}

	ListFactoryAuditEvents = func() operations.Row[paging.Asked[FactoryEvents, paging.Cursor]] {
		return operations.New(operations.Operation{
			ID: "list-factory-audit-events", Summary: "List the changes in a factory, newest first",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}/audit-events",
			Roles: operations.Auditors,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.List(dynamo.Audit, "byResource", "byActor", "byResourceAndActor"),
			},
		}, paging.With(factoryEvents, paging.ByCursor))
	}

	ExportOrganization = func() operations.Row[paging.Asked[string, paging.Cursor]] {
		return operations.New(operations.Operation{
			ID: "export-organization", Summary: "Read everything that the service stores about an organization",
			Method: http.MethodGet, Path: "/api/organizations/{organizationId}/export",
			Roles: operations.Keepers, Timeout: exportTimeout,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.List(dynamo.Gateways), operations.List(dynamo.RateOverrides),
				operations.ListByIndex(dynamo.Edges, "byOrganization"), operations.List(dynamo.Reports), operations.List(dynamo.Stays),
				operations.List(dynamo.Enrolments, "byOrganization"),
				operations.ListByIndex(dynamo.Factories, "byOrganization"), operations.List(dynamo.Machines), operations.List(dynamo.Products),
				operations.List(dynamo.Methods), operations.List(dynamo.MethodVersions), operations.List(dynamo.MethodContents), operations.List(dynamo.MethodReports),
				operations.List(dynamo.Progress), // recalls
				operations.List(dynamo.Audit, "byOrganization"),
			},
		}, paging.With(operations.OrganizationID, paging.ByCursor))
	}
)

// exportTimeout allows for a page of 200 requests to the database, each of which may be retried.
const exportTimeout = 20 * time.Second
