// Package artifacts has the rows of the operations on artifacts that the service keeps.
package artifacts

import (
	"net/http"
	"slices"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/census"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
)

const path = "/api/ota/artifacts/{edgeType}/{sha256}"

// The rows.
var (
	PutArtifact = func() operations.Row[artifact.Wish] {
		return operations.New(operations.Operation{
			ID: "put-artifact", Summary: "Ask to upload an artifact",
			Method: http.MethodPut, Path: path,
			Roles: operations.Releasers,
			Gives: []int{http.StatusOK, http.StatusCreated},
			// A program's right depends on the channels that carry an artifact.
			Grants: []operations.Grant{operations.May(dynamo.Releases, dynamo.Get, dynamo.Query, dynamo.Write),
				operations.May(dynamo.Channels, dynamo.Query), operations.May(dynamo.Audit, dynamo.Put)},
			Settings: artifact.Settings,
		}, artifact.WishOf)
	}

	UpdateArtifact = func() operations.Row[artifact.Name] {
		return operations.New(operations.Operation{
			ID: "update-artifact", Summary: "Finish the upload of an artifact",
			Method: http.MethodPatch, Path: path,
			Roles: operations.Releasers, MemoryMB: findMemory, // it reads the bytes
			Gives: operations.Shown, Refuses: []problem.Code{problem.ArtifactNotKept, problem.NotFound},
			Grants:   changing,
			Settings: artifact.Settings,
		}, artifact.FinishOf)
	}

	GetArtifact = func() operations.Row[artifact.Look] {
		return operations.New(operations.Operation{
			ID: "get-artifact", Summary: "Read an artifact, and what uses it",
			Method: http.MethodGet, Path: path,
			Roles: append(slices.Clone(operations.Viewers), auth.Program), Timeout: findTimeout, MemoryMB: findMemory,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Grants:   append(finding(), operations.May(dynamo.Releases, dynamo.Get, dynamo.Query)),
			Settings: slices.Concat(artifact.Settings, census.SettingNames),
		}, artifact.LookOf)
	}

	ListArtifacts = func() operations.Row[paging.Asked[string, paging.Place]] {
		return operations.New(operations.Operation{
			ID: "list-artifacts", Summary: "List artifacts",
			Method: http.MethodGet, Path: "/api/ota/artifacts",
			Roles:    operations.Viewers,
			Gives:    operations.Shown,
			Grants:   []operations.Grant{operations.List(dynamo.Releases)},
			Settings: artifact.Settings,
		}, paging.With(edgeType, paging.ByOffset))
	}

	DeleteArtifact = func() operations.Row[artifact.Removal] {
		return operations.New(operations.Operation{
			ID: "delete-artifact", Summary: "Delete an artifact that nothing uses",
			Method: http.MethodDelete, Path: path,
			Roles: operations.Owners, Timeout: findTimeout, MemoryMB: findMemory,
			Gives: operations.Changed, Refuses: []problem.Code{problem.ArtifactInUse, problem.NotFound},
			Grants: append(finding(dynamo.BatchGet), operations.May(dynamo.Releases, dynamo.Get, dynamo.Query, dynamo.Write),
				operations.May(dynamo.Audit, dynamo.Put),
				operations.List(dynamo.Stays)), // of boxes that only say that they run it
			Settings: slices.Concat(artifact.Settings, census.SettingNames),
		}, artifact.RemovalOf)
	}
)

// changing is what a change to an artifact needs.
var changing = []operations.Grant{operations.May(dynamo.Releases, dynamo.Get, dynamo.Write), operations.May(dynamo.Audit, dynamo.Put)}

// To find what uses an artifact, boxes are counted; see package progress.
const (
	findTimeout = 28 * time.Second
	findMemory  = 1769
)

// finding is what usage.Finder needs besides the releases.
func finding(more ...dynamo.Permission) []operations.Grant {
	reports := operations.ListByIndex(dynamo.Reports, "byState")
	reports.Actions = append(reports.Actions, more...)
	return []operations.Grant{
		operations.May(dynamo.Channels, dynamo.Query), operations.May(dynamo.Factories, dynamo.BatchGet),
		reports,
		operations.ListByIndex(dynamo.Edges, "byPlace"),
		operations.May(dynamo.Progress, dynamo.Get, dynamo.Write),
	}
}

// edgeType reads the type of box that artifacts are listed of; empty: of all.
func edgeType(in *input.Reader) string {
	name, _ := in.Query("edgeType", input.Name)
	return name
}
