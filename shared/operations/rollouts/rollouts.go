// Package rollouts has the rows of the operations on rollouts and their policies.
package rollouts

import (
	"net/http"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// The rows.
var (
	StartRollout = func() operations.Row[rollout.PlanRequest] {
		return operations.New(operations.Operation{
			ID: "start-rollout", Summary: "Start a staged rollout",
			Tells:  true,
			Method: http.MethodPost, Path: "/api/ota/rollouts",
			Roles: operations.Releasers,
			Takes: input.Takes{IdempotencyKey: true},
			Gives: operations.Created, Refuses: []problem.Code{problem.ArtifactNotKept, problem.Frozen, problem.NotFound, problem.ReleaseNotPublished, problem.RolloutActive},
			Grants: []operations.Grant{
				operations.May(dynamo.Channels, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Releases, dynamo.Get),
				{Table: dynamo.Rollouts, Actions: []dynamo.Permission{dynamo.Get, dynamo.Write, dynamo.Query}, Indexes: []string{"byChannel"}, OnlyIndexes: true},
				operations.May(dynamo.Idempotency, dynamo.Get, dynamo.Put),
				operations.May(dynamo.Audit, dynamo.Put),
			},
			Settings: guard.Settings,
		}, func(in *input.Reader) rollout.PlanRequest {
			return rollout.PlanOf(in.Body(), in.Settings)
		})
	}

	UpdateRollout = func() operations.Row[input.Sent[string, rollout.MoveRequest]] {
		return operations.New(operations.Operation{
			ID: "update-rollout", Summary: "Promote, halt, resume or complete a rollout",
			Tells:  true,
			Method: http.MethodPatch, Path: "/api/ota/rollouts/{id}",
			Roles: operations.Owners, Limit: ratelimit.Reserved,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.ApprovalRequired, problem.Frozen, problem.InvalidStateTransition, problem.NotFound, problem.WindowClosed},
			Grants: []operations.Grant{
				operations.May(dynamo.Rollouts, dynamo.Get, dynamo.Write),
				operations.ListByIndex(dynamo.Rollouts, "byStatus"),
				operations.ListByIndex(dynamo.Edges, "byOrganization"),
				operations.May(dynamo.Channels, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Releases, dynamo.Get),
				operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(operations.RolloutID, rollout.MoveOf))
	}

	GetRollout = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "get-rollout", Summary: "Read a rollout",
			Method: http.MethodGet, Path: "/api/ota/rollouts/{id}",
			Roles: operations.Viewers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Rollouts, dynamo.Get)},
		}, operations.RolloutID)
	}

	ListRollouts = func() operations.Row[paging.Asked[rollout.Filter, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-rollouts", Summary: "List rollouts, newest first",
			Method: http.MethodGet, Path: "/api/ota/rollouts",
			Roles: operations.Viewers,
			Gives: operations.Shown,
			Grants: []operations.Grant{operations.ListByIndex(dynamo.Rollouts, "all", "byEdgeType", "byChannelName", "byChannel",
				"byStatus", "byEdgeTypeAndStatus", "byChannelNameAndStatus", "byChannelAndStatus")},
		}, paging.With(rollout.FilterOf, paging.ByOffset))
	}

	PutRolloutPolicy = func() operations.Row[input.Sent[string, guard.Policy]] {
		return operations.New(operations.Operation{
			ID: "put-rollout-policy", Summary: "Set the policy by which the guard judges a rollout",
			Tells:  true,
			Method: http.MethodPut, Path: "/api/ota/rollouts/{id}/policy",
			Roles: operations.Owners,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound, problem.WindowClosed},
			Settings: guard.Settings,
			Grants:   guards(),
		}, func(in *input.Reader) input.Sent[string, guard.Policy] {
			return input.Sent[string, guard.Policy]{Path: operations.RolloutID(in), Body: guard.ReadFor(in.Body(), in.Settings)}
		})
	}

	GetRolloutPolicy = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "get-rollout-policy", Summary: "Read the policy of a rollout",
			Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/policy",
			Roles: operations.Viewers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Rollouts, dynamo.Get)},
		}, operations.RolloutID)
	}

	ApproveRolloutStage = func() operations.Row[input.Sent[string, rollout.ApprovalRequest]] {
		return operations.New(operations.Operation{
			ID: "approve-rollout-stage", Summary: "Approve a stage of a rollout",
			Tells:  true,
			Method: http.MethodPost, Path: "/api/ota/rollouts/{id}/approvals",
			Roles: operations.Owners,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Changed, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound, problem.SelfApproval, problem.SignInAgain},
			Settings: []setting.Name{setting.SignatureMaxAgeSeconds},
			Grants:   guards(),
		}, input.Both(operations.RolloutID, rollout.ApprovalOf))
	}
)

// guards is what a change to a rollout's guard needs: the rollout, and its copy in the channel's
// row.
func guards() []operations.Grant {
	return []operations.Grant{
		operations.May(dynamo.Rollouts, dynamo.Get, dynamo.Write),
		operations.May(dynamo.Channels, dynamo.Get, dynamo.Update),
		operations.May(dynamo.Audit, dynamo.Put),
	}
}
