// Package boxes has the rows of the operations on boxes and gateways.
package boxes

import (
	"net/http"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// The rows.
var (
	PutEdge = func() operations.Row[input.Sent[string, edge.Assignment]] {
		return operations.New(operations.Operation{
			ID: "put-edge", Summary: "Register a box or move it to another channel",
			Method: http.MethodPut, Path: "/api/edges/{edgeId}",
			Roles: operations.Installers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Stored, Refuses: append([]problem.Code{problem.FactoryNotInOrganization, problem.NotFound}, pinCodes...),
			Settings: slices.Concat([]setting.Name{setting.FleetIssuers, setting.ReportShards}, bell.Settings, edge.QuotaSettings),
			Grants: []operations.Grant{
				operations.Registered,
				operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Releases, dynamo.Get), // to which a box is pinned
				operations.May(dynamo.Bells, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Factories, dynamo.Get, dynamo.ConditionCheck),
				operations.List(dynamo.Machines), // for those that the box leaves
				operations.List(dynamo.MethodPlaces),
				operations.May(dynamo.Methods, dynamo.Get),
				operations.May(dynamo.MethodReports, dynamo.Get),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, func(in *input.Reader) input.Sent[string, edge.Assignment] {
			return input.Sent[string, edge.Assignment]{Path: operations.EdgeID(in), Body: edge.ReadSigned(in.Body(), boxauth.ReadIssuers(in.Settings))}
		})
	}

	RegisterEdges = func() operations.Row[[]edge.BatchItem] {
		return operations.New(operations.Operation{
			ID: "register-edges", Summary: "Register up to 30 boxes, or move them",
			Method: http.MethodPost, Path: "/api/edges",
			Roles: operations.Installers,
			Takes: input.Takes{IdempotencyKey: true, MaxBody: 64 << 10},
			Gives: operations.Shown, Refuses: append([]problem.Code{problem.FactoryNotInOrganization, problem.NotFound}, pinCodes...),
			Settings: slices.Concat([]setting.Name{setting.FleetIssuers, setting.ReportShards}, bell.Settings, edge.QuotaSettings),
			Grants: []operations.Grant{
				operations.Registered,
				operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Releases, dynamo.Get), // to which a box is pinned
				operations.May(dynamo.Bells, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Factories, dynamo.Get, dynamo.ConditionCheck),
				operations.List(dynamo.Machines), // for those that the box leaves
				operations.List(dynamo.MethodPlaces),
				operations.May(dynamo.Methods, dynamo.Get),
				operations.May(dynamo.MethodReports, dynamo.Get),
				operations.May(dynamo.Idempotency, dynamo.Get, dynamo.Put),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, func(in *input.Reader) []edge.BatchItem {
			return edge.ReadBatch(in.Body(), boxauth.ReadIssuers(in.Settings))
		})
	}

	DeleteEdge = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "delete-edge", Summary: "Retire a box",
			Method: http.MethodDelete, Path: "/api/edges/{edgeId}",
			Roles: operations.Keepers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Silenced, Refuses: []problem.Code{problem.NotFound},
			Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: operations.Silencing,
		}, operations.EdgeID)
	}

	GetEdge = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "get-edge", Summary: "Read a box",
			Method: http.MethodGet, Path: "/api/edges/{edgeId}",
			Roles: operations.Watchers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Edges, dynamo.Get), operations.May(dynamo.Reports, dynamo.Get)},
		}, operations.EdgeID)
	}

	ListEdges = func() operations.Row[paging.Asked[edge.Filter, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-edges", Summary: "List boxes",
			Method: http.MethodGet, Path: "/api/edges",
			Roles: operations.Watchers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.ListByIndex(dynamo.Edges, "all", "byChannel", "byOrganization"), operations.May(dynamo.Reports, dynamo.Get, dynamo.BatchGet),
				operations.May(dynamo.Channels, dynamo.BatchGet), operations.May(dynamo.Factories, dynamo.BatchGet),
				operations.May(dynamo.Releases, dynamo.Get), operations.May(dynamo.RateCounters, dynamo.Get),
			},
		}, paging.With(edge.FilterOf, paging.ByOffset))
	}

	GetManifest = func() operations.Row[polling.Poll] {
		return operations.New(operations.Operation{
			ID: "get-manifest", Summary: "Poll for the release that a box should run",
			Method: http.MethodGet, Path: "/api/edges/{edgeId}/update/manifest",
			Roles: []auth.Role{auth.Edge, auth.PlatformOwner},
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Sampled:  true,
			Settings: slices.Concat([]setting.Name{setting.LogSamplePolls}, operations.PollSettings, polling.ListeningSettings),
			Grants: []operations.Grant{
				operations.May(dynamo.Channels, dynamo.Get),
				operations.May(dynamo.Releases, dynamo.Get),
				operations.May(dynamo.Reports, dynamo.Get, dynamo.Write, dynamo.BatchGet),
				operations.May(dynamo.Progress, dynamo.Get), operations.May(dynamo.Factories, dynamo.Get), operations.May(dynamo.RateCounters, dynamo.Get),
			},
		}, polling.PollOf)
	}

	PutEdgeToken = func() operations.Row[input.Sent[string, string]] {
		return operations.New(operations.Operation{
			ID: "put-edge-token", Summary: "Give a box a token of its own",
			Method: http.MethodPut, Path: "/api/edges/{edgeId}/token",
			Roles: operations.Installers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
			Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: operations.Registration,
		}, input.Both(operations.EdgeID, edge.TokenOf))
	}

	DeleteEdgeToken = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "delete-edge-token", Summary: "End a box's own tokens",
			Method: http.MethodDelete, Path: "/api/edges/{edgeId}/token",
			Roles: operations.Keepers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Silenced, Refuses: []problem.Code{problem.NotFound},
			Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: operations.Silencing,
		}, operations.EdgeID)
	}

	PutGatewayToken = func() operations.Row[input.Sent[string, string]] {
		return operations.New(operations.Operation{
			ID: "put-gateway-token", Summary: "Give an organization's gateway a token",
			Method: http.MethodPut, Path: "/api/organizations/{organizationId}/gateway-token",
			Roles: operations.Keepers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
			Grants: operations.Gateways,
		}, input.Both(operations.OrganizationID, edge.TokenOf))
	}

	DeleteGatewayToken = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "delete-gateway-token", Summary: "End the tokens of an organization's gateway",
			Method: http.MethodDelete, Path: "/api/organizations/{organizationId}/gateway-token",
			Roles: operations.Keepers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
			Grants: operations.Gateways,
		}, operations.OrganizationID)
	}

	PutUpdateReport = func() operations.Row[input.Sent[string, report.Outcome]] {
		return operations.New(operations.Operation{
			ID: "put-update-report", Summary: "Report the progress of a box's update",
			Method: http.MethodPut, Path: "/api/edges/{edgeId}/update/report",
			Roles: []auth.Role{auth.Edge}, Limit: ratelimit.Reserved,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound, problem.ReportStale},
			Grants: []operations.Grant{
				operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
			},
			Settings: []setting.Name{setting.ReportShards, setting.FleetIssuers},
		}, input.Hearing(operations.EdgeID, polling.OutcomeOf))
	}

	PutEdgeAttributes = func() operations.Row[input.Sent[string, map[string]string]] {
		return operations.New(operations.Operation{
			ID: "put-edge-attributes", Summary: "Report the attributes of a box",
			Method: http.MethodPut, Path: "/api/edges/{edgeId}/attributes",
			Roles: []auth.Role{auth.Edge},
			Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
			},
			Settings: []setting.Name{setting.ReportShards, setting.FleetIssuers},
		}, input.Hearing(operations.EdgeID, report.SaidOf))
	}
)

// pinCodes are the refusals of a pin.
var pinCodes = []problem.Code{problem.ReleaseNotPublished, problem.ArtifactNotKept, problem.EdgeNotReported, problem.DowngradeRefused}

// BellSettings are the settings of the bell, which is not an operation.
var BellSettings = slices.Concat(bell.KeySettings, polling.BellSettings)
