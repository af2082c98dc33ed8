// Package factories has the rows of the operations on factories.
package factories

import (
	"net/http"
	"slices"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
)

// The rows.
var (
	PutFactory = operations.New(operations.Operation{
		ID: "put-factory", Summary: "Register a factory",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}",
		Roles: operations.Owners,
		Takes: input.Takes{Path: operations.FactoryPath, Body: factory.Body, Conditions: true},
		Gives: operations.Stored,
		Grants: []operations.Grant{
			operations.May(dynamo.Factories, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Audit, dynamo.Put),
		},
	})

	GetFactory = operations.New(operations.Operation{
		ID: "get-factory", Summary: "Read a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}",
		Roles: operations.Readers,
		Takes: input.Takes{Path: operations.FactoryPath},
		Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
		Grants: []operations.Grant{operations.May(dynamo.Factories, dynamo.Get)},
	})

	ListFactories = operations.New(operations.Operation{
		ID: "list-factories", Summary: "List the factories of an organization",
		Method: http.MethodGet, Path: "/api/factories",
		Roles:  operations.Readers,
		Takes:  input.Takes{Query: slices.Concat(input.Fields{{Name: "organizationId", Is: input.Name}}, paging.OffsetQuery)},
		Gives:  operations.Shown,
		Grants: []operations.Grant{operations.ListByIndex(dynamo.Factories, "byOrganization")},
	})
)
