package operations

import (
	"net/http"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// The operations on release channels, rollouts and boxes.
var fleetRows = []Operation{
	{
		ID: "publish-release", Summary: "Publish a version to a release channel",
		Method: http.MethodPut, Path: "/api/ota/release-channels/{edgeType}/{channel}",
		Roles: releasers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: channelPath, Body: release.PublicationBody, Conditions: true},
		Gives: stored, Refuses: []problem.Code{problem.Frozen, problem.ReleaseImmutable, problem.RolloutActive},
		Grants: []Grant{
			may(dynamo.Channels, dynamo.Get, dynamo.Write),
			may(dynamo.Releases, dynamo.Get, dynamo.Write),
			may(dynamo.Rollouts, dynamo.Get, dynamo.Write),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-release-channel", Summary: "Read a release channel",
		Method: http.MethodGet, Path: "/api/ota/release-channels/{edgeType}/{channel}",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: channelPath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Channels, dynamo.Get)},
	},
	{
		ID: "start-rollout", Summary: "Start a staged rollout",
		Method: http.MethodPost, Path: "/api/ota/rollouts",
		Roles: releasers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Body: rollout.PlanBody, IdempotencyKey: true},
		Gives: created, Refuses: []problem.Code{problem.Frozen, problem.NotFound, problem.ReleaseNotPublished, problem.RolloutActive},
		Grants: []Grant{
			may(dynamo.Channels, dynamo.Get, dynamo.Write),
			may(dynamo.Releases, dynamo.Get),
			{Table: dynamo.Rollouts, Actions: []dynamo.Permission{dynamo.Get, dynamo.Write, dynamo.Query}, Indexes: []string{"byChannel"}, OnlyIndexes: true},
			may(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
		Settings: []setting.Name{setting.GuardIntervalSeconds},
	},
	{
		ID: "update-rollout", Summary: "Promote, halt, resume or complete a rollout",
		Method: http.MethodPatch, Path: "/api/ota/rollouts/{id}",
		Roles: owners, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: rolloutPath, Body: rollout.MoveBody, Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.ApprovalRequired, problem.Frozen, problem.InvalidStateTransition, problem.NotFound, problem.WindowClosed},
		Grants: []Grant{
			may(dynamo.Rollouts, dynamo.Get, dynamo.Write),
			may(dynamo.Channels, dynamo.Get, dynamo.Write),
			may(dynamo.Releases, dynamo.Get),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-rollout", Summary: "Read a rollout",
		Method: http.MethodGet, Path: "/api/ota/rollouts/{id}",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: rolloutPath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Rollouts, dynamo.Get)},
	},
	{
		ID: "list-release-channels", Summary: "List release channels",
		Method: http.MethodGet, Path: "/api/ota/release-channels",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes:  input.Takes{Query: slices.Concat(input.Fields{{Name: "edgeType", Is: input.Name}}, paging.OffsetQuery)},
		Gives:  shown,
		Grants: []Grant{list(dynamo.Channels, "all")},
	},
	{
		ID: "list-rollouts", Summary: "List rollouts, newest first",
		Method: http.MethodGet, Path: "/api/ota/rollouts",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Query: slices.Concat(rollout.FilterQuery, paging.OffsetQuery)},
		Gives: shown,
		Grants: []Grant{listByIndex(dynamo.Rollouts, "all", "byEdgeType", "byChannelName", "byChannel",
			"byStatus", "byEdgeTypeAndStatus", "byChannelNameAndStatus", "byChannelAndStatus")},
	},
	{
		ID: "put-edge", Summary: "Register a box or move it to another channel",
		Method: http.MethodPut, Path: "/api/edges/{edgeId}",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath, Body: edge.AssignmentBody, Conditions: true},
		Gives: stored, Refuses: []problem.Code{problem.FactoryNotInOrganization, problem.NotFound},
		Settings: slices.Concat([]setting.Name{setting.FleetIssuers, setting.ReportShards}, bell.Settings, edge.QuotaSettings),
		Grants: []Grant{
			registered,
			may(dynamo.Reports, dynamo.Get, dynamo.Write),
			may(dynamo.Bells, dynamo.Get, dynamo.Write),
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "register-edges", Summary: "Register up to 30 boxes, or move them",
		Method: http.MethodPost, Path: "/api/edges",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Body: edge.BatchBody, IdempotencyKey: true, MaxBody: 64 << 10},
		Gives: shown, Refuses: []problem.Code{problem.FactoryNotInOrganization, problem.NotFound},
		Settings: slices.Concat([]setting.Name{setting.FleetIssuers, setting.ReportShards}, bell.Settings, edge.QuotaSettings),
		Grants: []Grant{
			registered,
			may(dynamo.Reports, dynamo.Get, dynamo.Write),
			may(dynamo.Bells, dynamo.Get, dynamo.Write),
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "delete-edge", Summary: "Retire a box",
		Method: http.MethodDelete, Path: "/api/edges/{edgeId}",
		Roles: keepers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath, Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: registration,
	},
	{
		ID: "get-edge", Summary: "Read a box",
		Method: http.MethodGet, Path: "/api/edges/{edgeId}",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{may(dynamo.Edges, dynamo.Get)},
	},
	{
		ID: "list-edges", Summary: "List the boxes of a release channel or of an organization",
		Method: http.MethodGet, Path: "/api/edges",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes:  input.Takes{Query: slices.Concat(edge.FilterQuery, paging.OffsetQuery)},
		Gives:  shown,
		Grants: []Grant{listByIndex(dynamo.Edges, "byChannel", "byOrganization")},
	},
	{
		ID: "get-manifest", Summary: "Poll for the release that a box should run",
		Method: http.MethodGet, Path: "/api/edges/{edgeId}/update/manifest",
		Roles: []auth.Role{auth.Edge, auth.PlatformOwner}, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath, Query: edge.PollQuery},
		Gives: read, Refuses: []problem.Code{problem.NotFound},
		Sampled:  true,
		Settings: slices.Concat([]setting.Name{setting.LogSamplePolls}, pollSettings, edge.ListeningSettings),
		Grants: []Grant{
			may(dynamo.Channels, dynamo.Get),
			may(dynamo.Releases, dynamo.Get),
			may(dynamo.Reports, dynamo.Get, dynamo.Write),
			may(dynamo.Progress, dynamo.Get),
		},
	},
}

// registered grants what a registration needs of the boxes: the box itself, and a count of an organization's boxes.
var registered = Grant{
	Table: dynamo.Edges, Actions: []dynamo.Permission{dynamo.Get, dynamo.Write, dynamo.Query}, Indexes: []string{"byOrganization"}, OnlyIndexes: true,
}
