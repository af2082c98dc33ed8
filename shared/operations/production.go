package operations

import (
	"net/http"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
)

// The operations on factories, machines and production methods.
var productionRows = []Operation{
	{
		ID: "put-factory", Summary: "Register a factory",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}",
		Roles: owners, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: factoryPath, Body: factory.Body, Conditions: true},
		Gives: stored,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-factory", Summary: "Read a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: factoryPath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Factories, dynamo.Get)},
	},
	{
		ID: "list-factories", Summary: "List the factories of an organization",
		Method: http.MethodGet, Path: "/api/factories",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes:  input.Takes{Query: slices.Concat(input.Fields{{Name: "organizationId", Is: input.Name}}, paging.OffsetQuery)},
		Gives:  shown,
		Grants: []Grant{listByIndex(dynamo.Factories, "byOrganization")},
	},
	{
		ID: "put-machine", Summary: "Register a machine",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: engineers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: machinePath, Body: machine.Body, Conditions: true},
		Gives: stored, Refuses: []problem.Code{problem.EdgeNotInOrganization, problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Edges, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.Machines, dynamo.Get, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-machine", Summary: "Read a machine",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: machinePath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Machines, dynamo.Get),
		},
	},
	{
		ID: "list-machines", Summary: "List the machines of a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: factoryPath, Query: paging.OffsetQuery},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Machines),
		},
	},
	{
		ID: "create-production-method", Summary: "Create a production method",
		Method: http.MethodPost, Path: "/api/factories/{factoryId}/production-methods",
		Roles: engineers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: factoryPath, Body: method.CreationBody, IdempotencyKey: true},
		Gives: created, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Write),
			may(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-production-method", Summary: "Read a production method",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods/{methodId}",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: methodPath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get),
		},
	},
	{
		ID: "list-production-methods", Summary: "List the production methods of a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: factoryPath, Query: slices.Concat(input.Fields{{Name: "productId", Is: input.UUID}, {Name: "status", Is: method.StatusRule}}, paging.OffsetQuery)},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Recipes, "byProduct", "byStatus"),
		},
	},
	{
		ID: "put-method-content", Summary: "Save the content of a version",
		Method: http.MethodPut, Path: versions + "/{number}/content",
		Roles: engineers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: method.RefPath, Body: content.Body, Conditions: true, MaxBody: 64 << 10},
		Gives: stored, Refuses: []problem.Code{problem.NotFound, problem.VersionFrozen, problem.VersionOpen},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get, dynamo.Write),
			may(dynamo.MethodVersions, dynamo.Get, dynamo.Write),
			may(dynamo.MethodContents, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-method-content", Summary: "Read the content of a version",
		Method: http.MethodGet, Path: versions + "/{number}/content",
		Roles: controllers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: method.RefPath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Settings: []setting.Name{setting.FleetIssuers},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Edges, dynamo.Get),
			may(dynamo.MethodVersions, dynamo.Get),
			may(dynamo.MethodContents, dynamo.Get),
		},
	},
	{
		ID: "get-method-version", Summary: "Read a version",
		Method: http.MethodGet, Path: versions + "/{number}",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: method.RefPath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get),
			may(dynamo.MethodVersions, dynamo.Get),
		},
	},
	{
		ID: "list-method-versions", Summary: "List the versions of a method, newest first",
		Method: http.MethodGet, Path: versions,
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: methodPath, Query: paging.OffsetQuery},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get),
			list(dynamo.MethodVersions),
		},
	},
	{
		ID: "update-method-version", Summary: "Submit, approve, release or withdraw a version",
		Method: http.MethodPatch, Path: versions + "/{number}",
		Roles: engineers, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: method.RefPath, Body: method.MoveBody, Conditions: true},
		Gives: shown, Refuses: []problem.Code{problem.ContentChanged, problem.EffectivityFull, problem.InvalidStateTransition,
			problem.MethodIncomplete, problem.NotFound, problem.ReachesNothing, problem.SelfApproval, problem.TrialSplitsRoute},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.Machines, dynamo.Get, dynamo.Query, dynamo.ConditionCheck),
			may(dynamo.Recipes, dynamo.Get, dynamo.Write),
			may(dynamo.MethodVersions, dynamo.Get, dynamo.Write, dynamo.ConditionCheck),
			may(dynamo.MethodContents, dynamo.Get),
			may(dynamo.MethodPlaces, dynamo.Write),
			may(dynamo.Progress, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-method-changes", Summary: "Compare the contents of two versions",
		Method: http.MethodGet, Path: versions + "/{number}/changes",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: method.RefPath, Query: method.SinceQuery},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.MethodVersions, dynamo.Get),
			may(dynamo.MethodContents, dynamo.Get),
		},
	},
	{
		ID: "get-machine-methods", Summary: "Poll for the versions that hold on a machine",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}/methods",
		Roles: controllers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory, Sampled: true,
		Takes: input.Takes{Path: machinePath, Query: slices.Concat(method.PollQuery, paging.CursorQuery)},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Settings: []setting.Name{setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.LogSamplePolls, setting.FleetIssuers},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Edges, dynamo.Get),
			may(dynamo.Machines, dynamo.Get),
			{Table: dynamo.Recipes, Actions: []dynamo.Permission{dynamo.Get, dynamo.Query}, Indexes: []string{"byProduct"}, OnlyIndexes: true},
			list(dynamo.MethodPlaces),
			listByIndex(dynamo.Audit, "byResource"),
		},
	},
	{
		ID: "put-method-report", Summary: "Report what a machine does with a version",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}/methods/{methodId}/report",
		Roles: []auth.Role{auth.Edge}, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes:    input.Takes{Path: slices.Concat(machinePath, input.Fields{{Name: "methodId", Is: input.UUID}}), Body: method.ReportBody},
		Gives:    stored,
		Refuses:  []problem.Code{problem.ContentChanged, problem.NotFound, problem.VersionWithdrawn},
		Settings: []setting.Name{setting.FleetIssuers},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Edges, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.Machines, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.MethodVersions, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.MethodReports, dynamo.Get, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "list-method-machines", Summary: "List the machines that have a version or may have it",
		Method: http.MethodGet, Path: versions + "/{number}/machines",
		Roles: readers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: method.RefPath, Query: slices.Concat(input.Fields{{Name: "clear", Is: method.ClearRule}}, paging.OffsetQuery)},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.MethodVersions, dynamo.Get),
			list(dynamo.MethodReports),
			list(dynamo.Machines),
			may(dynamo.RateCounters, dynamo.Get),
		},
	},
}

const versions = "/api/factories/{factoryId}/production-methods/{methodId}/versions"

// controllers are the boxes that run a factory's machines, and everyone who may read its
// methods.
var controllers = []auth.Role{auth.Edge, auth.PlatformOwner, auth.Member}
