package operations

import (
	"net/http"

	"wavegate/shared/platform/dynamo"
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
			list(dynamo.Recipes, "byProduct"),
		},
	},
}
