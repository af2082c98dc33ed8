// Package factories has the rows of the operations on factories.
package factories

import (
	"net/http"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
)

// The rows.
var (
	PutFactory = func() operations.Row[input.Sent[string, factory.Registration]] {
		return operations.New(operations.Operation{
			ID: "put-factory", Summary: "Register a factory",
			Method: http.MethodPut, Path: "/api/factories/{factoryId}",
			Roles: operations.Keepers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Stored, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(operations.FactoryID, factory.RegistrationOf))
	}

	GetFactory = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "get-factory", Summary: "Read a factory",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}",
			Roles: operations.Readers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Factories, dynamo.Get)},
		}, operations.FactoryID)
	}

	ListFactories = func() operations.Row[operations.OrganizationPage] {
		return operations.New(operations.Operation{
			ID: "list-factories", Summary: "List the factories of an organization",
			Method: http.MethodGet, Path: "/api/factories",
			Roles:  operations.Readers,
			Gives:  operations.Shown,
			Grants: []operations.Grant{operations.ListByIndex(dynamo.Factories, "byOrganization")},
		}, operations.PageOfOrganization)
	}
)
