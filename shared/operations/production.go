package operations

import (
	"net/http"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// The operations on factories, machines and production methods.
var production = []Operation{
	{
		ID: "put-factory", Summary: "Register a factory",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-factory", Summary: "Read a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.Factories, dynamo.Get)},
	},
	{
		ID: "list-factories", Summary: "List the factories of an organization",
		Method: http.MethodGet, Path: "/api/factories",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{listByIndex(dynamo.Factories, "byOrganization")},
	},
	{
		ID: "put-machine", Summary: "Register a machine",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: engineers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Edges, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.Machines, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-machine", Summary: "Read a machine",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Machines, dynamo.Get),
		},
	},
	{
		ID: "list-machines", Summary: "List the machines of a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Machines),
		},
	},
	{
		ID: "create-production-method", Summary: "Create a production method",
		Method: http.MethodPost, Path: "/api/factories/{factoryId}/production-methods",
		Roles: engineers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Put),
			may(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-production-method", Summary: "Read a production method",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods/{methodId}",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get),
		},
	},
	{
		ID: "list-production-methods", Summary: "List the production methods of a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Recipes, "byProduct", "byStatus"),
		},
	},
	{
		ID: "put-method-content", Summary: "Save the content of a version",
		Method: http.MethodPut, Path: versions + "/{number}/content",
		Roles: engineers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory, MaxBody: 64 << 10,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get, dynamo.Put),
			may(dynamo.MethodVersions, dynamo.Get, dynamo.Put),
			may(dynamo.MethodContents, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-method-content", Summary: "Read the content of a version",
		Method: http.MethodGet, Path: versions + "/{number}/content",
		Roles: controllers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
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
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get),
			may(dynamo.MethodVersions, dynamo.Get),
		},
	},
	{
		ID: "list-method-versions", Summary: "List the versions of a method, newest first",
		Method: http.MethodGet, Path: versions,
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get),
			list(dynamo.MethodVersions),
		},
	},
	{
		ID: "update-method-version", Summary: "Submit, approve, release or withdraw a version",
		Method: http.MethodPatch, Path: versions + "/{number}",
		Roles: engineers, Limit: Reserved, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.Machines, dynamo.Get, dynamo.Query, dynamo.ConditionCheck),
			may(dynamo.Recipes, dynamo.Get, dynamo.Put),
			may(dynamo.MethodVersions, dynamo.Get, dynamo.Put, dynamo.ConditionCheck),
			may(dynamo.MethodContents, dynamo.Get),
			may(dynamo.MethodPlaces, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-method-changes", Summary: "Compare the contents of two versions",
		Method: http.MethodGet, Path: versions + "/{number}/changes",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.MethodVersions, dynamo.Get),
			may(dynamo.MethodContents, dynamo.Get),
		},
	},
	{
		ID: "get-machine-methods", Summary: "Poll for the versions that hold on a machine",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}/methods",
		Roles: controllers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory, Sampled: true,
		Settings: []setting.Name{setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.LogSamplePolls, setting.FleetIssuers},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Edges, dynamo.Get),
			may(dynamo.Machines, dynamo.Get),
			{Table: dynamo.Recipes, Actions: []dynamo.Action{dynamo.Get, dynamo.Query}, Indexes: []string{"byProduct"}, OnlyIndexes: true},
			list(dynamo.MethodPlaces),
			listByIndex(dynamo.Audit, "byResource"),
		},
	},
	{
		ID: "put-method-report", Summary: "Report what a machine does with a version",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}/methods/{methodId}/report",
		Roles: []auth.Role{auth.Edge}, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Settings: []setting.Name{setting.FleetIssuers},
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Edges, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.Machines, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.MethodVersions, dynamo.Get, dynamo.ConditionCheck),
			may(dynamo.MethodReports, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "list-method-machines", Summary: "List the machines that have a version, or may",
		Method: http.MethodGet, Path: versions + "/{number}/machines",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
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
