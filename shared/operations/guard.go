package operations

import (
	"net/http"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// The operations that can stop rollouts: policies, approvals and the freeze.
var guardRows = []Operation{
	{
		ID: "put-rollout-policy", Summary: "Set the policy by which the guard judges a rollout",
		Method: http.MethodPut, Path: "/api/ota/rollouts/{id}/policy",
		Roles: owners, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: rolloutPath, Body: guard.Body, Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound, problem.WindowClosed},
		Settings: []setting.Name{setting.GuardIntervalSeconds},
		Grants:   guards(),
	},
	{
		ID: "get-rollout-policy", Summary: "Read the policy of a rollout",
		Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/policy",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: rolloutPath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Rollouts, dynamo.Get)},
	},
	{
		ID: "approve-rollout-stage", Summary: "Approve a stage of a rollout",
		Method: http.MethodPost, Path: "/api/ota/rollouts/{id}/approvals",
		Roles: owners, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: rolloutPath, Body: rollout.ApprovalBody, Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.InvalidStateTransition, problem.NotFound, problem.SelfApproval},
		Grants: guards(),
	},
	{
		ID: "put-freeze", Summary: "Freeze all rollouts for a while",
		Method: http.MethodPut, Path: "/api/ota/freeze",
		Roles: owners, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes:  input.Takes{Body: freeze.Body, Conditions: true},
		Gives:  stored,
		Grants: []Grant{may(dynamo.Rollouts, dynamo.Get, dynamo.Write), may(dynamo.Audit, dynamo.Put)},
	},
	{
		ID: "get-freeze", Summary: "Read the freeze",
		Method: http.MethodGet, Path: "/api/ota/freeze",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Rollouts, dynamo.Get)},
	},
	{
		ID: "delete-freeze", Summary: "Lift the freeze",
		Method: http.MethodDelete, Path: "/api/ota/freeze",
		Roles: owners, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Rollouts, dynamo.Get, dynamo.Write), may(dynamo.Audit, dynamo.Put)},
	},
}

// guards is what a change to a rollout's guard needs: the rollout, and its copy in the channel's
// row.
func guards() []Grant {
	return []Grant{
		may(dynamo.Rollouts, dynamo.Get, dynamo.Write),
		may(dynamo.Channels, dynamo.Get, dynamo.Update),
		may(dynamo.Audit, dynamo.Put),
	}
}
