// Package machines has the rows of the operations on machines.
package machines

import (
	"net/http"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
)

// The rows.
var (
	PutMachine = operations.New(operations.Operation{
		ID: "put-machine", Summary: "Register a machine",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: operations.Engineers,
		Takes: input.Takes{Path: operations.MachinePath, Body: machine.Body, Conditions: true},
		Gives: operations.Stored, Refuses: []problem.Code{problem.EdgeNotInOrganization, problem.NotFound},
		Grants: []operations.Grant{
			operations.May(dynamo.Factories, dynamo.Get),
			operations.May(dynamo.Edges, dynamo.Get, dynamo.ConditionCheck),
			operations.May(dynamo.Machines, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Audit, dynamo.Put),
		},
	})

	GetMachine = operations.New(operations.Operation{
		ID: "get-machine", Summary: "Read a machine",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: operations.Readers,
		Takes: input.Takes{Path: operations.MachinePath},
		Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
		Grants: []operations.Grant{
			operations.May(dynamo.Factories, dynamo.Get),
			operations.May(dynamo.Machines, dynamo.Get),
		},
	})

	ListMachines = operations.New(operations.Operation{
		ID: "list-machines", Summary: "List the machines of a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines",
		Roles: operations.Readers,
		Takes: input.Takes{Path: operations.FactoryPath, Query: paging.OffsetQuery},
		Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []operations.Grant{
			operations.May(dynamo.Factories, dynamo.Get),
			operations.List(dynamo.Machines),
		},
	})
)
