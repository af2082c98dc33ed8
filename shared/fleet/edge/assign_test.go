package edge

import (
	"testing"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestAssign_DecidesByWhatTheBoxIs(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := made.Add(time.Hour)
	stable := Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme"}
	described, bare := stable, stable
	described.Attributes, bare.Attributes = map[string]string{"modem": "LTE"}, map[string]string{}
	rival := Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "rival"}
	canary := Assignment{EdgeType: "gateway-x", Channel: "canary", OrganizationID: "acme"}
	box := func(a Assignment, revision int64, created, updated time.Time) Edge {
		return Edge{EdgeID: "box-1", EdgeType: a.EdgeType, Channel: a.Channel, OrganizationID: a.OrganizationID,
			Attributes: a.Attributes, CreatedAt: created, UpdatedAt: updated, Revision: revision}
	}
	moved := box(canary, 3, made, at)
	moved.Hold = &report.Hold{Since: at}
	taken := box(rival, 4, made, at.Add(time.Millisecond)) // two events: it leaves, and it comes
	taken.Hold = &report.Hold{Since: at}
	for name, c := range map[string]struct {
		was   Edge
		wish  Assignment
		next  Edge
		event string
	}{
		"new":             {Edge{}, stable, box(stable, 1, at, at), "EdgeRegistered"},
		"what is there":   {box(stable, 2, made, made), stable, box(stable, 2, made, made), ""},
		"another channel": {box(stable, 2, made, made), canary, moved, "EdgeReassigned"},
		"an attribute":    {box(stable, 2, made, made), described, box(described, 3, made, at), "EdgeReassigned"},
		"the same one":    {box(described, 2, made, made), described, box(described, 2, made, made), ""},
		"it is kept":      {box(described, 2, made, made), stable, box(described, 2, made, made), ""},
		"it is removed":   {box(described, 2, made, made), bare, box(stable, 3, made, at), "EdgeReassigned"},
		"none is removed": {box(stable, 2, made, made), bare, box(stable, 2, made, made), ""},
		"new owner":       {box(described, 2, made, made), rival, taken, "EdgeReassigned"},
	} {
		next, _, event := c.was.assign("box-1", c.wish, boxtoken.Live{}, at)
		expect.Equal(t, next, c.next, "%s", name)
		expect.Equal(t, event, c.event, "%s", name)
	}
}
