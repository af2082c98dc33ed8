// Package enrolments has the rows of the operations on enrolments, by which boxes register themselves.
package enrolments

import (
	"net/http"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// The rows.
var (
	CreateEdgeEnrolment = func() operations.Row[enrolment.Plan] {
		return operations.New(operations.Operation{
			ID: "create-edge-enrolment", Summary: "Make a code with which boxes register themselves",
			Method: http.MethodPost, Path: "/api/edge-enrolments",
			Roles: operations.Installers,
			Takes: input.Takes{IdempotencyKey: true, MaxBody: 256 << 10},
			Gives: operations.Created, Refuses: []problem.Code{problem.FactoryNotInOrganization, problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Enrolments, dynamo.Write),
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.Idempotency, dynamo.Get, dynamo.Put),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, func(in *input.Reader) enrolment.Plan { return enrolment.PlanOf(in.Body(), in.Now) })
	}

	ListEdgeEnrolments = func() operations.Row[operations.OrganizationPage] {
		return operations.New(operations.Operation{
			ID: "list-edge-enrolments", Summary: "List the enrolments of an organization, newest first",
			Method: http.MethodGet, Path: "/api/edge-enrolments",
			Roles: readers(),
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.ListByIndex(dynamo.Enrolments, "byOrganization")},
		}, operations.PageOfOrganization)
	}

	GetEdgeEnrolment = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "get-edge-enrolment", Summary: "Read an enrolment and the state of its boxes",
			Method: http.MethodGet, Path: "/api/edge-enrolments/{enrolmentId}",
			Roles: readers(),
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Enrolments, dynamo.Get, dynamo.Query), operations.May(dynamo.Edges, dynamo.BatchGet)},
		}, operations.EnrolmentID)
	}

	DeleteEdgeEnrolment = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "delete-edge-enrolment", Summary: "End an enrolment",
			Method: http.MethodDelete, Path: "/api/edge-enrolments/{enrolmentId}",
			Roles: operations.Installers,
			Gives: operations.Changed, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Enrolments, dynamo.Get, dynamo.Write), operations.May(dynamo.Audit, dynamo.Put)},
		}, operations.EnrolmentID)
	}

	RedeemEdgeEnrolment = func() operations.Row[enrolment.Pair] {
		return operations.New(operations.Operation{
			ID: "redeem-edge-enrolment", Summary: "Register the calling box with a code",
			Method: http.MethodPost, Path: "/api/edge-enrolments/redemptions",
			Roles: operations.Codes,
			Gives: []int{http.StatusCreated, http.StatusAccepted}, Refuses: []problem.Code{problem.EdgeEnrolled},
			Settings: slices.Concat([]setting.Name{setting.ReportShards}, bell.Settings, edge.QuotaSettings),
			Grants:   append([]operations.Grant{operations.May(dynamo.Enrolments, dynamo.Get, dynamo.Query, dynamo.Write, dynamo.Delete)}, operations.Registering...),
		}, input.Body(enrolment.PairOf))
	}

	AcceptEdgeEnrolment = func() operations.Row[input.Sent[string, []enrolment.Pair]] {
		return operations.New(operations.Operation{
			ID: "accept-edge-enrolment", Summary: "Register up to 30 waiting boxes",
			Method: http.MethodPost, Path: "/api/edge-enrolments/{enrolmentId}/accept",
			Roles: operations.Installers,
			Gives: operations.Changed, Refuses: []problem.Code{problem.EdgeEnrolled, problem.NotFound},
			Settings: slices.Concat([]setting.Name{setting.ReportShards}, bell.Settings, edge.QuotaSettings),
			Grants:   append([]operations.Grant{operations.May(dynamo.Enrolments, dynamo.Get, dynamo.Write)}, operations.Registering...),
		}, input.Both(operations.EnrolmentID, enrolment.AcceptedOf))
	}

	ResetEdgeEnrolment = func() operations.Row[enrolment.Place] {
		return operations.New(operations.Operation{
			ID: "reset-edge-enrolment", Summary: "Retire an enrolled box and free its id",
			Method: http.MethodDelete, Path: "/api/edge-enrolments/{enrolmentId}/redemptions/{edgeId}",
			Roles: operations.Keepers, Limit: ratelimit.Reserved,
			Gives: operations.Silenced, Refuses: []problem.Code{problem.NotFound},
			Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...),
			Grants:   append([]operations.Grant{operations.May(dynamo.Enrolments, dynamo.Get), operations.Ended}, operations.Silencing...),
		}, enrolment.PlaceOf)
	}
)

// readers are the roles that read enrolments.
func readers() []auth.Role { return append(slices.Clone(operations.Installers), auth.FleetViewer) }
