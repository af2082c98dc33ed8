// Package edge is about edge devices, called edges or boxes: which release channel a box follows, and
// what it is to run. A release reaches the fleet only through the poll that is answered here.
package edge

import (
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/value"
)

// InstalledRule is that of the version that a box says it has installed. It is compared for equality
// only, so a box may report whatever it was built with and is not kept from its update by an odd name.
// Empty is the same as not said.
var InstalledRule = &value.Text{
	Max: 128, Check: value.Printable,
	Says: "at most 128 characters without control characters",
}

// An Edge is a box of an organization.
type Edge struct {
	EdgeID         string    `json:"edgeId"`
	EdgeType       string    `json:"edgeType"`
	Channel        string    `json:"channel"`
	OrganizationID string    `json:"organizationId"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
	Revision       int64     `json:"revision"` // from 1
}

// Pair names the release channel that the box follows.
func (e Edge) Pair() string { return release.Pair(e.EdgeType, e.Channel) }

// An Assignment is what a platform owner says about a box.
type Assignment struct {
	EdgeType, Channel, OrganizationID string
}

func (e Edge) assignment() Assignment {
	return Assignment{EdgeType: e.EdgeType, Channel: e.Channel, OrganizationID: e.OrganizationID}
}

// assign decides what an assignment makes of a box: its next state and the event that tells of it; no
// event where nothing changes.
func (e Edge) assign(id string, a Assignment, at time.Time) (next Edge, event string) {
	if e.Revision > 0 && e.assignment() == a {
		return e, ""
	}
	next = Edge{EdgeID: id, EdgeType: a.EdgeType, Channel: a.Channel, OrganizationID: a.OrganizationID,
		CreatedAt: e.CreatedAt, UpdatedAt: at, Revision: e.Revision + 1}
	if e.Revision == 0 {
		next.CreatedAt = at
		return next, "EdgeRegistered"
	}
	return next, "EdgeReassigned"
}
