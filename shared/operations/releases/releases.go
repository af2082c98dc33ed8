// Package releases has the rows of the operations on release channels.
package releases

import (
	"net/http"
	"slices"

	"wavegate/shared/fleet/release"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
)

// The rows.
var (
	PublishRelease = operations.New(operations.Operation{
		ID: "publish-release", Summary: "Publish a version to a release channel",
		Method: http.MethodPut, Path: "/api/ota/release-channels/{edgeType}/{channel}",
		Roles: operations.Releasers,
		Takes: input.Takes{Path: operations.ChannelPath, Body: release.PublicationBody, Conditions: true},
		Gives: operations.Stored, Refuses: []problem.Code{problem.Frozen, problem.ReleaseImmutable, problem.RolloutActive},
		Grants: []operations.Grant{
			operations.May(dynamo.Channels, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Releases, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Rollouts, dynamo.Get, dynamo.Write),
			operations.May(dynamo.Audit, dynamo.Put),
		},
	})

	GetReleaseChannel = operations.New(operations.Operation{
		ID: "get-release-channel", Summary: "Read a release channel",
		Method: http.MethodGet, Path: "/api/ota/release-channels/{edgeType}/{channel}",
		Roles: operations.Viewers,
		Takes: input.Takes{Path: operations.ChannelPath},
		Gives: operations.Read, Refuses: []problem.Code{problem.NotFound},
		Grants: []operations.Grant{operations.May(dynamo.Channels, dynamo.Get)},
	})

	ListReleaseChannels = operations.New(operations.Operation{
		ID: "list-release-channels", Summary: "List release channels",
		Method: http.MethodGet, Path: "/api/ota/release-channels",
		Roles:  operations.Viewers,
		Takes:  input.Takes{Query: slices.Concat(input.Fields{{Name: "edgeType", Is: input.Name}}, paging.OffsetQuery)},
		Gives:  operations.Shown,
		Grants: []operations.Grant{operations.List(dynamo.Channels, "all")},
	})
)
