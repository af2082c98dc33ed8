// Package products has the rows of the operations on products.
package products

import (
	"net/http"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/product"
)

const path = "/api/factories/{factoryId}/products"

// The rows.
var (
	PutProduct = func() operations.Row[input.Sent[product.Place, product.Naming]] {
		return operations.New(operations.Operation{
			ID: "put-product", Summary: "Name a product",
			Method: http.MethodPut, Path: path + "/{productId}",
			Roles: operations.Engineers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Stored, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Products, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(product.PlaceOf, product.NamingOf))
	}

	GetProduct = func() operations.Row[product.Place] {
		return operations.New(operations.Operation{
			ID: "get-product", Summary: "Read a product",
			Method: http.MethodGet, Path: path + "/{productId}",
			Roles: operations.Readers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Products, dynamo.Get),
			},
		}, product.PlaceOf)
	}

	ListProducts = func() operations.Row[paging.Asked[string, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-products", Summary: "List the named products of a factory",
			Method: http.MethodGet, Path: path,
			Roles: operations.Readers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.List(dynamo.Products),
			},
		}, paging.With(operations.FactoryID, paging.ByOffset))
	}
)
