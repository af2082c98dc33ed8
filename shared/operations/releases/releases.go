// Package releases has the rows of the operations on release channels.
package releases

import (
	"net/http"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/release"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// edgeType reads the type of box that channels are listed of; empty: of all.
func edgeType(in *input.Reader) string {
	name, _ := in.Query("edgeType", input.Name)
	return name
}

// To count the boxes that ran a version, each of their times on it is read; see package progress.
const (
	countTimeout = 28 * time.Second
	countMemory  = 1769
)

// The rows.
var (
	PublishRelease = func() operations.Row[release.PublicationRequest] {
		return operations.New(operations.Operation{
			ID: "publish-release", Summary: "Publish a version to a release channel",
			Tells:  true,
			Method: http.MethodPut, Path: "/api/ota/release-channels/{edgeType}/{channel}",
			Roles: operations.Releasers,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Stored, Refuses: []problem.Code{problem.ArtifactNotKept, problem.Frozen, problem.ReleaseImmutable, problem.ReleaseNotPublished, problem.RequiresCycle, problem.RolloutActive},
			Grants: []operations.Grant{
				operations.May(dynamo.Channels, dynamo.Get, dynamo.Query, dynamo.Write),
				operations.May(dynamo.Releases, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Rollouts, dynamo.Get, dynamo.Write),
				operations.May(dynamo.Progress, dynamo.Get),
				operations.May(dynamo.Audit, dynamo.Put),
			},
			Settings: []setting.Name{setting.ArtifactURL},
		}, release.PublicationOf)
	}

	GetReleaseChannel = func() operations.Row[release.Name] {
		return operations.New(operations.Operation{
			ID: "get-release-channel", Summary: "Read a release channel",
			Method: http.MethodGet, Path: "/api/ota/release-channels/{edgeType}/{channel}",
			Roles: operations.Viewers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Channels, dynamo.Get), operations.May(dynamo.Releases, dynamo.Get)},
		}, release.NameOf)
	}

	ListReleaseChannels = func() operations.Row[paging.Asked[string, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-release-channels", Summary: "List release channels",
			Method: http.MethodGet, Path: "/api/ota/release-channels",
			Roles:  operations.Viewers,
			Gives:  operations.Shown,
			Grants: []operations.Grant{operations.List(dynamo.Channels, "all")},
		}, paging.With(edgeType, paging.ByOffset))
	}

	ListReleases = func() operations.Row[paging.Asked[string, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-releases", Summary: "List the versions of an edge type",
			Method: http.MethodGet, Path: "/api/ota/releases",
			Roles:  operations.Viewers,
			Gives:  operations.Shown,
			Grants: []operations.Grant{operations.List(dynamo.Releases)},
		}, paging.With(func(in *input.Reader) string { return in.RequiredQuery("edgeType", input.Name) }, paging.ByOffset))
	}

	GetRelease = func() operations.Row[release.Named] {
		return operations.New(operations.Operation{
			ID: "get-release", Summary: "Read what is known of a version",
			Method: http.MethodGet, Path: "/api/ota/releases/{edgeType}/{version}",
			Roles: operations.Viewers, Timeout: countTimeout, MemoryMB: countMemory,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Channels, dynamo.Query), operations.May(dynamo.Releases, dynamo.Get),
				operations.ListByIndex(dynamo.Rollouts, "byEdgeType"), operations.ListByIndex(dynamo.Stays, "byVersion"),
				operations.May(dynamo.Progress, dynamo.Get, dynamo.Write),
			},
			Settings: census.SettingNames,
		}, release.NamedOf)
	}

	PutRelease = func() operations.Row[input.Sent[release.Named, release.SaidWish]] {
		return operations.New(operations.Operation{
			ID: "put-release", Summary: "Say more of a version",
			Method: http.MethodPut, Path: "/api/ota/releases/{edgeType}/{version}",
			Roles: operations.Owners,
			Gives: operations.Stored, Refuses: []problem.Code{problem.ArtifactNotKept, problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Releases, dynamo.Get, dynamo.Write), operations.May(dynamo.Audit, dynamo.Put)},
		}, input.Both(release.NamedOf, release.SaidWishOf))
	}

	PutReleaseComponents = func() operations.Row[release.Piece] {
		return operations.New(operations.Operation{
			ID: "put-release-components", Summary: "Say what a version contains",
			Method: http.MethodPut, Path: "/api/ota/releases/{edgeType}/{version}/components/{piece}",
			Roles: operations.Releasers,
			Takes: input.Takes{MaxBody: 256 << 10},
			Gives: operations.Stored, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{
				operations.May(dynamo.Channels, dynamo.Query), // a program's right depends on the channels that carry a release
				operations.May(dynamo.Releases, dynamo.Get, dynamo.Write), operations.May(dynamo.Audit, dynamo.Put),
			},
		}, release.PieceOf)
	}

	ListComponents = func() operations.Row[paging.Asked[string, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-components", Summary: "List the versions that contain a component",
			Method: http.MethodGet, Path: "/api/ota/components",
			Roles:  operations.Viewers,
			Gives:  operations.Shown,
			Grants: []operations.Grant{operations.May(dynamo.Releases, dynamo.BatchGet, dynamo.Query)},
		}, paging.With(func(in *input.Reader) string { return in.RequiredQuery("purl", release.ComponentRule) }, paging.ByOffset))
	}

	ListReleaseEdges = func() operations.Row[paging.Asked[release.Named, paging.Cursor]] {
		return operations.New(operations.Operation{
			ID: "list-release-edges", Summary: "List the boxes that ran a version before",
			Method: http.MethodGet, Path: "/api/ota/releases/{edgeType}/{version}/edges",
			Roles:  operations.Watchers,
			Gives:  operations.Shown,
			Grants: []operations.Grant{operations.ListByIndex(dynamo.Stays, "byVersion")},
		}, paging.With(release.NamedOf, paging.ByCursor))
	}

	PutEdgeType = func() operations.Row[input.Sent[string, edgetype.Wish]] {
		return operations.New(operations.Operation{
			ID: "put-edge-type", Summary: "Set what holds for an edge type",
			Method: http.MethodPut, Path: "/api/ota/edge-types/{edgeType}",
			Roles: operations.Owners,
			Takes: input.Takes{Conditions: true},
			Gives: operations.Stored,
			Grants: []operations.Grant{
				operations.May(dynamo.Releases, dynamo.Get, dynamo.Write), operations.May(dynamo.Audit, dynamo.Put),
			},
		}, input.Both(edgetype.Of, edgetype.WishOf))
	}

	GetEdgeType = func() operations.Row[string] {
		return operations.New(operations.Operation{
			ID: "get-edge-type", Summary: "Read what holds for an edge type",
			Method: http.MethodGet, Path: "/api/ota/edge-types/{edgeType}",
			Roles: operations.Viewers,
			Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
			Grants: []operations.Grant{operations.May(dynamo.Releases, dynamo.Get)},
		}, edgetype.Of)
	}
)
