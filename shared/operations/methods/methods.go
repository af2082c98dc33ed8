// Package methods has the rows of the operations on production methods.
package methods

import (
	"net/http"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/production/content"
	"wavegate/shared/production/method"
	"wavegate/shared/ratelimit"
)

// The rows.
var (
	CreateProductionMethod = func() operations.Row[input.Sent[string, method.Creation]] {
		return operations.New(operations.Operation{
			ID: "create-production-method", Summary: "Create a production method",
			Method: http.MethodPost, Path: "/api/factories/{factoryId}/production-methods",
			Roles: operations.Engineers,
			Takes: input.Takes{IdempotencyKey: true},
			Gives: operations.Created, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Methods, dynamo.Write),
				operations.May(dynamo.Idempotency, dynamo.Get, dynamo.Put),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(operations.FactoryID, method.CreationOf))
	}

	GetProductionMethod = func() operations.Row[method.Ref] {
		return operations.New(operations.Operation{
			ID: "get-production-method", Summary: "Read a production method",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods/{methodId}",
			Roles: operations.Readers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Methods, dynamo.Get),
				operations.May(dynamo.Products, dynamo.BatchGet),
			},
		}, method.IDOf)
	}

	UpdateProductionMethod = func() operations.Row[input.Sent[method.Ref, method.Update]] {
		return operations.New(operations.Operation{
			ID: "update-production-method", Summary: "Rename, retire or reopen a production method",
			Method: http.MethodPatch, Path: "/api/factories/{factoryId}/production-methods/{methodId}",
			Roles: operations.Engineers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Shown, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Methods, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Products, dynamo.BatchGet),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(method.IDOf, method.UpdateOf))
	}

	ListProductionMethods = func() operations.Row[paging.Asked[method.Filter, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-production-methods", Summary: "List the production methods of a factory",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods",
			Roles: operations.Readers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.List(dynamo.Methods, "byProduct", "byStatus"),
				operations.May(dynamo.Products, dynamo.BatchGet),
			},
		}, paging.With(method.FilterOf, paging.ByOffset))
	}

	PutMethodContent = func() operations.Row[input.Sent[method.Ref, content.Content]] {
		return operations.New(operations.Operation{
			ID: "put-method-content", Summary: "Save the content of a version",
			Method: http.MethodPut, Path: versions + "/{number}/content",
			Roles: operations.Engineers,
			Takes: input.Takes{Conditions: true, MaxBody: 64 << 10},
			Gives: operations.Stored, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound, problem.VersionFrozen, problem.VersionOpen},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Methods, dynamo.Get, dynamo.Write),
				operations.May(dynamo.MethodVersions, dynamo.Get, dynamo.Write),
				operations.May(dynamo.MethodContents, dynamo.Write),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(method.RefOf, content.Read))
	}

	GetMethodContent = func() operations.Row[method.Ref] {
		return operations.New(operations.Operation{
			ID: "get-method-content", Summary: "Read the content of a version",
			Method: http.MethodGet, Path: versions + "/{number}/content",
			Roles: controllers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Settings: []setting.Name{setting.FleetIssuers},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Edges, dynamo.Get),
				operations.May(dynamo.MethodVersions, dynamo.Get),
				operations.May(dynamo.MethodContents, dynamo.Get),
			},
		}, method.RefOf)
	}

	GetMethodVersion = func() operations.Row[method.Ref] {
		return operations.New(operations.Operation{
			ID: "get-method-version", Summary: "Read a version",
			Method: http.MethodGet, Path: versions + "/{number}",
			Roles: operations.Readers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Methods, dynamo.Get),
				operations.May(dynamo.MethodVersions, dynamo.Get),
				operations.May(dynamo.MethodContents, dynamo.Get),
			},
		}, method.RefOf)
	}

	ListMethodVersions = func() operations.Row[paging.Asked[method.Ref, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-method-versions", Summary: "List the versions of a method, newest first",
			Method: http.MethodGet, Path: versions,
			Roles: operations.Readers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Methods, dynamo.Get),
				operations.List(dynamo.MethodVersions),
			},
		}, paging.With(method.IDOf, paging.ByOffset))
	}

	UpdateMethodVersion = func() operations.Row[input.Sent[method.Ref, method.Move]] {
		return operations.New(operations.Operation{
			ID: "update-method-version", Summary: "Submit, approve, release or withdraw a version",
			Method: http.MethodPatch, Path: versions + "/{number}",
			Roles: operations.Engineers, Limit: ratelimit.Reserved,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Shown, Refuses: []problem.Code{problem.ContentChanged, problem.EffectivityFull, problem.InvalidStateTransition,
				problem.MethodIncomplete, problem.NotFound, problem.ReachesNothing, problem.SelfApproval, problem.SignInAgain, problem.TrialSplitsRoute},
			Settings: []setting.Name{setting.SignatureMaxAgeSeconds},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get, dynamo.ConditionCheck),
				operations.May(dynamo.Machines, dynamo.Get, dynamo.Query, dynamo.ConditionCheck),
				operations.May(dynamo.Methods, dynamo.Get, dynamo.Write),
				operations.May(dynamo.MethodVersions, dynamo.Get, dynamo.Query, dynamo.Write, dynamo.ConditionCheck),
				operations.May(dynamo.MethodContents, dynamo.Get),
				operations.May(dynamo.MethodPlaces, dynamo.Write),
				operations.List(dynamo.MethodReports),
				operations.May(dynamo.Progress, dynamo.Write),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(method.RefOf, method.MoveOf))
	}

	GetMethodChanges = func() operations.Row[method.Two] {
		return operations.New(operations.Operation{
			ID: "get-method-changes", Summary: "Compare the contents of two versions",
			Method: http.MethodGet, Path: versions + "/{number}/changes",
			Roles: operations.Readers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.MethodVersions, dynamo.Get),
				operations.May(dynamo.MethodContents, dynamo.Get),
			},
		}, method.TwoOf)
	}

	GetMachineMethods = func() operations.Row[paging.Asked[method.PollRequest, paging.Cursor]] {
		return operations.New(operations.Operation{
			ID: "get-machine-methods", Summary: "Poll for the versions that hold on a machine",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}/methods",
			Roles: controllers, Sampled: true,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Settings: []setting.Name{setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.LogSamplePolls, setting.FleetIssuers},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Edges, dynamo.Get),
				operations.May(dynamo.Machines, dynamo.Get),
				operations.May(dynamo.MethodContents, dynamo.Get), // for the steps, once a container
				{Table: dynamo.Methods, Actions: []dynamo.Permission{dynamo.Get, dynamo.Query}, Indexes: []string{"byProduct"}, OnlyIndexes: true},
				operations.List(dynamo.MethodPlaces),
				operations.ListByIndex(dynamo.Audit, "byResource"),
			},
		}, paging.With(method.PollRequestOf, paging.ByCursor))
	}

	GetMachineContent = func() operations.Row[method.MachineRef] {
		return operations.New(operations.Operation{
			ID: "get-machine-content", Summary: "Read the content of a version, with what of it is for a machine",
			Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}/methods/{methodId}/versions/{number}",
			Roles: controllers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Settings: []setting.Name{setting.FleetIssuers},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Edges, dynamo.Get),
				operations.May(dynamo.Machines, dynamo.Get),
				operations.May(dynamo.MethodVersions, dynamo.Get),
				operations.May(dynamo.MethodContents, dynamo.Get),
			},
		}, method.MachineRefOf)
	}

	PutMethodReport = func() operations.Row[input.Sent[method.About, method.Report]] {
		return operations.New(operations.Operation{
			ID: "put-method-report", Summary: "Report what a machine does with a version",
			Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}/methods/{methodId}/report",
			Roles: []auth.Role{auth.Edge}, Limit: ratelimit.Reserved,
			Gives:    operations.Stored,
			Refuses:  []problem.Code{problem.ContentChanged, problem.NotFound, problem.VersionWithdrawn},
			Settings: []setting.Name{setting.FleetIssuers},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Edges, dynamo.Get, dynamo.ConditionCheck),
				operations.May(dynamo.Machines, dynamo.Get, dynamo.ConditionCheck),
				operations.May(dynamo.Methods, dynamo.Get),
				operations.May(dynamo.MethodVersions, dynamo.Get, dynamo.ConditionCheck),
				operations.May(dynamo.MethodReports, dynamo.Get, dynamo.Write),
				operations.May(dynamo.MethodPlaces, dynamo.Write),         // of a machine that no version names
				operations.May(dynamo.Progress, dynamo.Get, dynamo.Write), // of a recall that the report reopens
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(method.AboutOf, method.ReportOf))
	}

	ListMethodMachines = func() operations.Row[paging.Asked[method.ReachedBy, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-method-machines", Summary: "List the machines that have a version or may have it",
			Method: http.MethodGet, Path: versions + "/{number}/machines",
			Roles: operations.Readers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Methods, dynamo.Get),
				operations.May(dynamo.MethodVersions, dynamo.Get, dynamo.Query),
				operations.List(dynamo.MethodReports),
				operations.List(dynamo.Machines),
				operations.May(dynamo.Edges, dynamo.Get),
				operations.May(dynamo.Reports, dynamo.Get),
				operations.May(dynamo.RateCounters, dynamo.Get),
			},
		}, paging.With(method.ReachedByOf, paging.ByOffset))
	}

	PutMethodConfirmation = func() operations.Row[input.Sent[method.Confirmed, string]] {
		return operations.New(operations.Operation{
			ID: "put-method-confirmation", Summary: "Confirm that a machine no longer has a version",
			Method: http.MethodPut, Path: versions + "/{number}/machines/{code}/confirmation",
			Roles: operations.Engineers, Limit: ratelimit.Reserved,
			Gives: operations.Stored, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound},
			Grants: confirming,
		}, input.Both(method.ConfirmedOf, method.ConfirmationOf))
	}

	ConfirmMethodMachines = func() operations.Row[input.Sent[method.Ref, method.Confirmations]] {
		return operations.New(operations.Operation{
			ID: "confirm-method-machines", Summary: "Confirm that machines no longer have a version, with one signature",
			Method: http.MethodPost, Path: versions + "/{number}/confirmations",
			Roles: operations.Engineers, Limit: ratelimit.Reserved,
			Gives: operations.Shown, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound},
			Grants: confirming,
		}, input.Both(method.RefOf, method.ConfirmationsOf))
	}
)

const versions = "/api/factories/{factoryId}/production-methods/{methodId}/versions"

// controllers are the boxes that run a factory's machines, and everyone who may read its
// methods.
var controllers = []auth.Role{auth.Edge, auth.PlatformOwner, auth.Member}

// confirming is what the confirmation of one machine, and of many, needs.
var confirming = []operations.Grant{
	operations.May(dynamo.Factories, dynamo.Get),
	operations.List(dynamo.Machines),
	operations.May(dynamo.Methods, dynamo.Get),
	operations.May(dynamo.MethodVersions, dynamo.Get, dynamo.Query),
	operations.May(dynamo.MethodReports, dynamo.Query, dynamo.Write),
	operations.May(dynamo.Audit, dynamo.Put),
}
