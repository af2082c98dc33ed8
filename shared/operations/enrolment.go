package operations

import (
	"net/http"
	"slices"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// The operations by which boxes register themselves.
var enrolmentRows = []Operation{
	{
		ID: "create-edge-enrolment", Summary: "Make a code with which boxes register themselves",
		Method: http.MethodPost, Path: "/api/edge-enrolments",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Body: enrolment.Body, IdempotencyKey: true, MaxBody: 256 << 10},
		Gives: created, Refuses: []problem.Code{problem.FactoryNotInOrganization, problem.NotFound},
		Grants: []Grant{
			may(dynamo.Enrolments, dynamo.Write),
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "list-edge-enrolments", Summary: "List the enrolments of an organization, newest first",
		Method: http.MethodGet, Path: "/api/edge-enrolments",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Query: slices.Concat(input.Fields{{Name: "organizationId", Is: input.Name}}, paging.OffsetQuery)},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{listByIndex(dynamo.Enrolments, "byOrganization")},
	},
	{
		ID: "get-edge-enrolment", Summary: "Read an enrolment and the state of its boxes",
		Method: http.MethodGet, Path: "/api/edge-enrolments/{enrolmentId}",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: enrolmentPath},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Enrolments, dynamo.Get, dynamo.Query), may(dynamo.Edges, dynamo.BatchGet)},
	},
	{
		ID: "delete-edge-enrolment", Summary: "End an enrolment",
		Method: http.MethodDelete, Path: "/api/edge-enrolments/{enrolmentId}",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: enrolmentPath},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Enrolments, dynamo.Get, dynamo.Write), may(dynamo.Audit, dynamo.Put)},
	},
	{
		ID: "redeem-edge-enrolment", Summary: "Register the calling box with a code",
		Method: http.MethodPost, Path: "/api/edge-enrolments/redemptions",
		Roles: codes, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Body: enrolment.PairBody},
		Gives: []int{http.StatusCreated, http.StatusAccepted}, Refuses: []problem.Code{problem.EdgeEnrolled},
		Settings: slices.Concat([]setting.Name{setting.ReportShards}, bell.Settings, edge.QuotaSettings),
		Grants:   append([]Grant{may(dynamo.Enrolments, dynamo.Get, dynamo.Query, dynamo.Write, dynamo.Delete)}, registering...),
	},
	{
		ID: "accept-edge-enrolment", Summary: "Register up to 30 waiting boxes",
		Method: http.MethodPost, Path: "/api/edge-enrolments/{enrolmentId}/accept",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: enrolmentPath, Body: enrolment.AcceptBody},
		Gives: changed, Refuses: []problem.Code{problem.EdgeEnrolled, problem.NotFound},
		Settings: slices.Concat([]setting.Name{setting.ReportShards}, bell.Settings, edge.QuotaSettings),
		Grants:   append([]Grant{may(dynamo.Enrolments, dynamo.Get, dynamo.Write)}, registering...),
	},
	{
		ID: "reset-edge-enrolment", Summary: "Retire an enrolled box and free its id",
		Method: http.MethodDelete, Path: "/api/edge-enrolments/{enrolmentId}/redemptions/{edgeId}",
		Roles: keepers, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: redemptionPath},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...),
		Grants:   append([]Grant{may(dynamo.Enrolments, dynamo.Get)}, registration...),
	},
}

// registering is registration with the count of an organization's boxes.
var registering = append([]Grant{registered}, registration[1:]...)
