// Package freezes has the rows of the operations on the freeze.
package freezes

import (
	"net/http"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// The rows.
var (
	PutFreeze = func() operations.Row[freeze.Wish] {
		return operations.New(operations.Operation{
			ID: "put-freeze", Summary: "Freeze all rollouts for a while",
			Method: http.MethodPut, Path: "/api/ota/freeze",
			Roles:  operations.Owners,
			Takes:  input.Takes{Conditions: true},
			Gives:  operations.Stored,
			Grants: []operations.Grant{operations.May(dynamo.Rollouts, dynamo.Get, dynamo.Write), operations.May(dynamo.Audit, dynamo.Put)},
		}, input.Body(freeze.WishOf))
	}

	GetFreeze = func() operations.Row[struct{}] {
		return operations.New(operations.Operation{
			ID: "get-freeze", Summary: "Read the freeze",
			Method: http.MethodGet, Path: "/api/ota/freeze",
			Roles: operations.Viewers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Rollouts, dynamo.Get)},
		}, operations.Nothing)
	}

	DeleteFreeze = func() operations.Row[struct{}] {
		return operations.New(operations.Operation{
			ID: "delete-freeze", Summary: "Lift the freeze",
			Method: http.MethodDelete, Path: "/api/ota/freeze",
			Roles: operations.Owners,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Rollouts, dynamo.Get, dynamo.Write), operations.May(dynamo.Audit, dynamo.Put)},
		}, operations.Nothing)
	}
)
