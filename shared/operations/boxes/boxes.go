// Package boxes has the rows of the operations on boxes and gateways.
package boxes

import (
	"net/http"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
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
	PutEdge = operations.New(operations.Operation{
		ID: "put-edge", Summary: "Register a box or move it to another channel",
		Method: http.MethodPut, Path: "/api/edges/{edgeId}",
		Roles: operations.Installers,
		Takes: input.Takes{Path: operations.EdgePath, Body: edge.AssignmentBody, Conditions: true},
		Gives: operations.Stored, Refuses: []problem.Code{problem.FactoryNotInOrganization, problem.NotFound},
		Settings: slices.Concat([]setting.Name{setting.FleetIssuers, setting.ReportShards}, bell.Settings, edge.QuotaSettings),
		Grants: []operations.Grant{
			operations.Registered,
			operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Bells, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Factories, dynamo.Get),
			operations.May(dynamo.Audit, dynamo.Put),
		},
	})

	RegisterEdges = operations.New(operations.Operation{
		ID: "register-edges", Summary: "Register up to 30 boxes, or move them",
		Method: http.MethodPost, Path: "/api/edges",
		Roles: operations.Installers,
		Takes: input.Takes{Body: edge.BatchBody, IdempotencyKey: true, MaxBody: 64 << 10},
		Gives: operations.Shown, Refuses: []problem.Code{problem.FactoryNotInOrganization, problem.NotFound},
		Settings: slices.Concat([]setting.Name{setting.FleetIssuers, setting.ReportShards}, bell.Settings, edge.QuotaSettings),
		Grants: []operations.Grant{
			operations.Registered,
			operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Bells, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Factories, dynamo.Get),
			operations.May(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			operations.May(dynamo.Audit, dynamo.Put),
		},
	})

	DeleteEdge = operations.New(operations.Operation{
		ID: "delete-edge", Summary: "Retire a box",
		Method: http.MethodDelete, Path: "/api/edges/{edgeId}",
		Roles: operations.Keepers,
		Takes: input.Takes{Path: operations.EdgePath, Conditions: true},
		Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
		Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: operations.Registration,
	})

	GetEdge = operations.New(operations.Operation{
		ID: "get-edge", Summary: "Read a box",
		Method: http.MethodGet, Path: "/api/edges/{edgeId}",
		Roles: operations.Viewers,
		Takes: input.Takes{Path: operations.EdgePath},
		Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
		Grants: []operations.Grant{operations.May(dynamo.Edges, dynamo.Get)},
	})

	ListEdges = operations.New(operations.Operation{
		ID: "list-edges", Summary: "List the boxes of a release channel or of an organization",
		Method: http.MethodGet, Path: "/api/edges",
		Roles:  operations.Viewers,
		Takes:  input.Takes{Query: slices.Concat(edge.FilterQuery, paging.OffsetQuery)},
		Gives:  operations.Shown,
		Grants: []operations.Grant{operations.ListByIndex(dynamo.Edges, "byChannel", "byOrganization")},
	})

	GetManifest = operations.New(operations.Operation{
		ID: "get-manifest", Summary: "Poll for the release that a box should run",
		Method: http.MethodGet, Path: "/api/edges/{edgeId}/update/manifest",
		Roles: []auth.Role{auth.Edge, auth.PlatformOwner},
		Takes: input.Takes{Path: operations.EdgePath, Query: polling.PollQuery},
		Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
		Sampled:  true,
		Settings: slices.Concat([]setting.Name{setting.LogSamplePolls}, operations.PollSettings, polling.ListeningSettings),
		Grants: []operations.Grant{
			operations.May(dynamo.Channels, dynamo.Get),
			operations.May(dynamo.Releases, dynamo.Get),
			operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Progress, dynamo.Get),
		},
	})

	PutEdgeToken = operations.New(operations.Operation{
		ID: "put-edge-token", Summary: "Give a box a token of its own",
		Method: http.MethodPut, Path: "/api/edges/{edgeId}/token",
		Roles: operations.Installers,
		Takes: input.Takes{Path: operations.EdgePath, Conditions: true, Body: edge.TokenBody},
		Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
		Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: operations.Registration,
	})

	DeleteEdgeToken = operations.New(operations.Operation{
		ID: "delete-edge-token", Summary: "End a box's own tokens",
		Method: http.MethodDelete, Path: "/api/edges/{edgeId}/token",
		Roles: operations.Keepers,
		Takes: input.Takes{Path: operations.EdgePath, Conditions: true},
		Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
		Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: operations.Registration,
	})

	PutGatewayToken = operations.New(operations.Operation{
		ID: "put-gateway-token", Summary: "Give an organization's gateway a token",
		Method: http.MethodPut, Path: "/api/organizations/{organizationId}/gateway-token",
		Roles: operations.Keepers,
		Takes: input.Takes{Path: operations.OrganizationPath, Conditions: true, Body: edge.TokenBody},
		Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
		Grants: operations.Gateways,
	})

	DeleteGatewayToken = operations.New(operations.Operation{
		ID: "delete-gateway-token", Summary: "End the tokens of an organization's gateway",
		Method: http.MethodDelete, Path: "/api/organizations/{organizationId}/gateway-token",
		Roles: operations.Keepers,
		Takes: input.Takes{Path: operations.OrganizationPath, Conditions: true},
		Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
		Grants: operations.Gateways,
	})

	PutUpdateReport = operations.New(operations.Operation{
		ID: "put-update-report", Summary: "Report the progress of a box's update",
		Method: http.MethodPut, Path: "/api/edges/{edgeId}/update/report",
		Roles: []auth.Role{auth.Edge}, Limit: ratelimit.Reserved,
		Takes: input.Takes{Path: operations.EdgePath, Body: polling.OutcomeBody},
		Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound, problem.ReportStale},
		Grants: []operations.Grant{
			operations.May(dynamo.Reports, dynamo.Get, dynamo.Write),
		},
		Settings: []setting.Name{setting.ReportShards, setting.FleetIssuers},
	})
)

// BellSettings are the settings of the bell, which is not an operation.
var BellSettings = slices.Concat(bell.KeySettings, polling.BellSettings)
