// Package progress has the rows of the operations on counts of boxes.
package progress

import (
	"net/http"
	"slices"
	"time"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/census"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// The rows.
var (
	GetUpdateWhy = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "get-update-why", Summary: "Explain which version a box gets, and why",
			Method: http.MethodGet, Path: "/api/edges/{edgeId}/update/why",
			Roles: operations.Watchers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Channels, dynamo.Get),
				operations.May(dynamo.Releases, dynamo.Get),
				operations.May(dynamo.Rollouts, dynamo.Get),
				operations.May(dynamo.Reports, dynamo.Get, dynamo.BatchGet),
				operations.May(dynamo.Factories, dynamo.Get),
				operations.May(dynamo.RateCounters, dynamo.Get),
			},
			Settings: []setting.Name{setting.ReportShards},
		}, operations.EdgeID)
	}

	GetOverview = func() operations.Row[census.OfActive] {
		return operations.New(operations.Operation{
			ID: "get-overview", Summary: "See what is going on now",
			Method: http.MethodGet, Path: "/api/ota/overview",
			Roles: operations.Viewers,
			Gives: operations.Shown,
			Grants: []operations.Grant{
				operations.May(dynamo.Rollouts, dynamo.Get), // the freeze
				operations.ListByIndex(dynamo.Rollouts, "byStatus", "byEdgeTypeAndStatus", "byChannelNameAndStatus", "byChannelAndStatus"),
				operations.May(dynamo.Progress, dynamo.Get, dynamo.BatchGet, dynamo.Query), // the counts and the recalls
				operations.May(dynamo.Channels, dynamo.BatchGet),
			},
			Settings: census.SettingNames,
		}, census.OfActiveOf)
	}

	GetRolloutProgress = func() operations.Row[census.OfRollout] {
		return operations.New(operations.Operation{
			ID: "get-rollout-progress", Summary: "See the progress of a rollout",
			Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/progress",
			Roles: operations.Viewers, Timeout: countTimeout, MemoryMB: countMemory,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: counting(), Settings: census.SettingNames,
		}, census.OfRolloutOf)
	}

	ListRolloutHistory = func() operations.Row[paging.Asked[string, paging.Cursor]] {
		return operations.New(operations.Operation{
			ID: "list-rollout-history", Summary: "List how a rollout went, minute by minute, newest first",
			Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/progress/history",
			Roles: operations.Viewers,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Rollouts, dynamo.Get),
				operations.List(dynamo.Progress),
			},
		}, paging.With(operations.RolloutID, paging.ByCursor))
	}

	ListRolloutEdges = func() operations.Row[paging.Asked[census.OfState, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-rollout-edges", Summary: "List the boxes of a rollout by their state",
			Method: http.MethodGet, Path: "/api/ota/rollouts/{id}/edges",
			Roles: operations.Watchers, Timeout: countTimeout, MemoryMB: countMemory,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Rollouts, dynamo.Get),
				{Table: dynamo.Reports, Actions: []dynamo.Permission{dynamo.Query, dynamo.BatchGet}, Indexes: []string{"byState"}, OnlyIndexes: true},
				operations.May(dynamo.RateCounters, dynamo.Get),
				operations.ListByIndex(dynamo.Edges, "byOrganization"),
			},
			Settings: census.SettingNames,
		}, paging.With(census.OfStateOf, paging.ByOffset))
	}

	GetOrganizationFleet = func() operations.Row[census.OfFleet] {
		return operations.New(operations.Operation{
			ID: "get-organization-fleet", Summary: "See an organization's boxes, and what rollouts do with them",
			Method: http.MethodGet, Path: "/api/organizations/{organizationId}/fleet",
			Roles: operations.Watchers, Timeout: countTimeout, MemoryMB: countMemory,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: own(dynamo.Query), Settings: census.SettingNames,
		}, census.OfFleetOf)
	}

	GetOrganizationRollout = func() operations.Row[census.OfOwnRollout] {
		return operations.New(operations.Operation{
			ID: "get-organization-rollout", Summary: "See what a rollout does with an organization's boxes",
			Method: http.MethodGet, Path: "/api/organizations/{organizationId}/rollouts/{id}",
			Roles: operations.Watchers, Timeout: countTimeout, MemoryMB: countMemory,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: own(), Settings: census.SettingNames,
		}, census.OfOwnRolloutOf)
	}

	GetChannelProgress = func() operations.Row[census.OfChannel] {
		return operations.New(operations.Operation{
			ID: "get-channel-progress", Summary: "See how many boxes of a release channel run each version",
			Method: http.MethodGet, Path: "/api/ota/release-channels/{edgeType}/{channel}/progress",
			Roles: operations.Viewers, Timeout: countTimeout, MemoryMB: countMemory,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Channels, dynamo.Get), operations.May(dynamo.Releases, dynamo.Get, dynamo.Query),
				operations.ListByIndex(dynamo.Reports, "byState"), operations.May(dynamo.Factories, dynamo.BatchGet),
				operations.May(dynamo.Progress, dynamo.Get, dynamo.Write),
			},
			Settings: census.SettingNames,
		}, census.OfChannelOf)
	}
)

// own is what an organization's views of rollouts need, and more of the counts.
func own(more ...dynamo.Permission) []operations.Grant {
	return []operations.Grant{
		operations.ListByIndex(dynamo.Edges, "byOrganization"), operations.May(dynamo.Reports, dynamo.BatchGet),
		operations.May(dynamo.Channels, dynamo.Get), operations.May(dynamo.Rollouts, dynamo.Get),
		operations.May(dynamo.Progress, append(more, dynamo.Get, dynamo.Write)...), operations.May(dynamo.Factories, dynamo.BatchGet),
		operations.May(dynamo.Releases, dynamo.Get), // the settings of edge types
	}
}

// A count decodes every row that it counts, so it gets a whole CPU. The gateway waits for 29 s.
const (
	countTimeout = 28 * time.Second
	countMemory  = 1769
)

// Tick counts the boxes of all active rollouts.
var Tick = operations.Task{
	Operation: operations.Operation{
		ID: operations.Tick, Summary: "Count the boxes of the active rollouts and have the guard judge them", Timeout: time.Minute, MemoryMB: countMemory,
		Settings: slices.Concat(census.SettingNames, artifact.Settings),
		Grants:   tick(),
	},
	Every: time.Minute,
}

// counting is what counting a rollout needs, apart from other permissions on reports.
func counting(more ...dynamo.Permission) []operations.Grant {
	reports := operations.ListByIndex(dynamo.Reports, "byState")
	reports.Actions = append(append(reports.Actions, dynamo.Get), more...)
	return []operations.Grant{
		reports,
		operations.May(dynamo.Rollouts, dynamo.Get), operations.May(dynamo.Channels, dynamo.Get),
		operations.May(dynamo.Progress, dynamo.Get, dynamo.Write), operations.May(dynamo.RateCounters, dynamo.Get),
		operations.May(dynamo.Factories, dynamo.BatchGet), operations.May(dynamo.Releases, dynamo.Get),
	}
}

// tick is what a tick needs: a census, the changes to a rollout, and the recalls with their machines.
func tick() []operations.Grant {
	others := []dynamo.TableID{dynamo.Rollouts, dynamo.Channels, dynamo.Progress, dynamo.Releases}
	return append(slices.DeleteFunc(counting(dynamo.BatchGet), func(g operations.Grant) bool { return slices.Contains(others, g.Table) }),
		operations.May(dynamo.Progress, dynamo.Get, dynamo.Write, dynamo.Query, dynamo.Delete),
		operations.May(dynamo.Methods, dynamo.Get), operations.May(dynamo.MethodVersions, dynamo.Get, dynamo.Query),
		operations.List(dynamo.MethodReports), operations.List(dynamo.Machines),
		operations.Grant{Table: dynamo.Rollouts, Actions: []dynamo.Permission{dynamo.Get, dynamo.Write, dynamo.Query}, Indexes: []string{"byStatus"}, OnlyIndexes: true},
		operations.May(dynamo.Channels, dynamo.Get, dynamo.Write, dynamo.Query),
		operations.May(dynamo.Releases, dynamo.Get, dynamo.Query, dynamo.Write), // the artifacts that are swept
		operations.ListByIndex(dynamo.Edges, "byPlace"), operations.List(dynamo.Stays),
		operations.May(dynamo.Audit, dynamo.Put))
}
