// Package machines has the rows of the operations on machines.
package machines

import (
	"net/http"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/production/machine"
)

// The rows.
var (
	PutMachine = func() operations.Row[input.Sent[machine.Place, machine.Registration]] {
		return operations.New(operations.Operation{
			ID: "put-machine", Summary: "Register a machine",
			Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}",
			Roles: operations.Engineers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Stored, Refuses: []problem.Code{problem.EdgeNotInOrganization, problem.NotFound, problem.SignInAgain},
			Settings: []setting.Name{setting.SignatureMaxAgeSeconds},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Edges, dynamo.Get, dynamo.ConditionCheck),
				operations.May(dynamo.Machines, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Methods, dynamo.Get), // of an admission that is given again
				operations.List(dynamo.MethodPlaces),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(machine.PlaceOf, machine.RegistrationOf))
	}

	GetMachine = func() operations.Row[machine.Place] {
		return operations.New(operations.Operation{
			ID: "get-machine", Summary: "Read a machine",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}",
			Roles: operations.Readers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Machines, dynamo.Get),
			},
		}, machine.PlaceOf)
	}

	ListMachines = func() operations.Row[paging.Asked[string, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-machines", Summary: "List the machines of a factory",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines",
			Roles: operations.Readers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.List(dynamo.Machines),
			},
		}, paging.With(operations.FactoryID, paging.ByOffset))
	}
)
