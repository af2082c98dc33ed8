package operations

import (
	"net/http"
	"slices"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// countTimeout bounds the operations that may count a channel's boxes. The gateway waits for 29
// s.
const countTimeout = 28 * time.Second

// The operations on reports of boxes and on the counts of them.
var progressRows = []Operation{
	{
		ID: "put-update-report", Summary: "Report the progress of a box's update",
		Method: http.MethodPut, Path: "/api/edges/{edgeId}/update/report",
		Roles: []auth.Role{auth.Edge}, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath, Body: edge.OutcomeBody},
		Gives: shown, Refuses: []problem.Code{problem.NotFound, problem.ReportStale},
		Grants: []Grant{
			may(dynamo.Reports, dynamo.Get, dynamo.Write),
		},
		Settings: []setting.Name{setting.ReportShards, setting.FleetIssuers},
	},
	{
		ID: "get-update-why", Summary: "Explain which version a box gets, and why",
		Method: http.MethodGet, Path: "/api/edges/{edgeId}/update/why",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Edges, dynamo.Get),
			may(dynamo.Channels, dynamo.Get),
			may(dynamo.Releases, dynamo.Get),
			may(dynamo.Rollouts, dynamo.Get),
			may(dynamo.Reports, dynamo.Get),
			may(dynamo.RateCounters, dynamo.Get),
		},
		Settings: []setting.Name{setting.ReportShards},
	},
	{
		ID: "get-overview", Summary: "See what is going on now",
		Method: http.MethodGet, Path: "/api/ota/overview",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Query: census.OverviewQuery},
		Gives: shown,
		Grants: []Grant{
			may(dynamo.Rollouts, dynamo.Get), // the freeze
			listByIndex(dynamo.Rollouts, "byStatus", "byEdgeTypeAndStatus", "byChannelNameAndStatus", "byChannelAndStatus"),
			may(dynamo.Progress, dynamo.BatchGet),
		},
		Settings: progressSettings,
	},
	{
		ID: "get-rollout-progress", Summary: "See the progress of a rollout",
		Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/progress",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: countTimeout, MemoryMB: censusMemory,
		Takes: input.Takes{Path: rolloutPath, Query: census.RolloutQuery},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: counting(), Settings: progressSettings,
	},
	{
		ID: "list-rollout-history", Summary: "List how a rollout went, minute by minute, newest first",
		Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/progress/history",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: rolloutPath, Query: paging.CursorQuery},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Rollouts, dynamo.Get),
			list(dynamo.Progress),
		},
	},
	{
		ID: "list-rollout-edges", Summary: "List the boxes of a rollout by their state",
		Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/edges",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: rolloutPath, Query: slices.Concat(input.Fields{{Name: "state", Is: report.StateRule, Required: true}}, paging.CursorQuery)},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Rollouts, dynamo.Get),
			{Table: dynamo.Reports, Actions: []dynamo.Permission{dynamo.Query, dynamo.BatchGet}, Indexes: []string{"byState"}, OnlyIndexes: true},
		},
		Settings: []setting.Name{setting.ReportShards},
	},
	{
		ID: "get-channel-progress", Summary: "See how many boxes of a release channel run each version",
		Method: http.MethodGet, Path: "/api/ota/release-channels/{edgeType}/{channel}/progress",
		Roles: viewers, Limit: ratelimit.Ordinary, Timeout: countTimeout, MemoryMB: censusMemory,
		Takes: input.Takes{Path: channelPath, Query: census.ChannelQuery},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Grants: []Grant{
			may(dynamo.Channels, dynamo.Get),
			listByIndex(dynamo.Reports, "byState"),
			may(dynamo.Progress, dynamo.Get, dynamo.Write),
		},
		Settings: progressSettings,
	},
}
