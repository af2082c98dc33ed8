package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// TestTrail_EventsOfAnOrganization_GiveItsBoxes: boxes are registered, moved, given to another organization, taken over and
// retired. Whoever reads the events of one organization alone knows its boxes, and nothing of what they were elsewhere.
func TestTrail_EventsOfAnOrganization_GiveItsBoxes(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		owner := auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}
		check := func(context.Context) (error, error) { return nil, nil }
		round := 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			id := func(n int) string { return fmt.Sprintf("%s-%d-%d", g.org, round, n) }
			organizations := []string{fmt.Sprintf("a-%s-%d", g.org, round), fmt.Sprintf("b-%s-%d", g.org, round)}
			for range rapid.IntRange(1, 12).Draw(t, "changes") {
				g.now = g.now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "ms")) * time.Millisecond)
				n := rapid.IntRange(0, 2).Draw(t, "box")
				a := edge.Assignment{EdgeType: "gateway-x", Channel: rapid.SampledFrom([]string{"stable", "canary"}).Draw(t, "channel"),
					OrganizationID: rapid.SampledFrom(organizations).Draw(t, "organization")}
				switch rapid.IntRange(0, 2).Draw(t, "change") {
				case 0:
					expect.Value(g.edges.For(owner).Put(g.ctx(), audit.Origin{}, id(n), a, input.Preconditions{}))(t)
				case 1:
					a.TakeOver = true
					batch := []edge.BatchItem{{EdgeID: id(n), Assignment: a}, {EdgeID: id((n + 1) % 3), Assignment: a}}
					expect.Value(g.edges.For(owner).PutAll(g.ctx(), audit.Origin{}, batch, idempotency.Claim{}, check))(t)
				case 2:
					_ = g.edges.For(owner).Retire(g.ctx(), audit.Origin{}, id(n), input.Preconditions{}) // there may be none
				}
			}
			for _, organization := range organizations {
				page := expect.Value(edge.NewStore(g.db).List(g.ctx(), edge.Filter{OrganizationID: organization}, dynamo.Span{Limit: 10}))(t)
				var listed []string
				for _, is := range page.Items {
					listed = append(listed, is.EdgeID+" "+is.Channel)
				}
				slices.Sort(listed)
				expect.Equal(t, replay(g, t, organization), listed, "the boxes of %s by its events", organization)
			}
		})
	})
}

// replay plays the events of an organization's boxes again.
func replay(g *gate, t *rapid.T, organization string) (boxes []string) {
	page := expect.Value(audit.NewLog(g.db).Of(g.ctx(), organization, audit.Filter{ResourceType: edge.ResourceType}, "", 100))(t)
	expect.Must(t, !page.More, "there are more events")
	has := map[string]edge.Edge{}
	for _, e := range slices.Backward(page.Items) {
		before, after := stateOf(t, e.Before), stateOf(t, e.After)
		for _, is := range []edge.Edge{before, after} {
			expect.Must(t, is.Revision == 0 || is.OrganizationID == organization, "%s shows %+v", e.EventName, is)
		}
		expect.Must(t, has[e.Resource.ID].Revision == before.Revision, "%s of revision %d begins with %d, and %d was the last",
			e.EventName, e.Resource.Revision, before.Revision, has[e.Resource.ID].Revision)
		if has[e.Resource.ID] = after; after.Revision == 0 {
			delete(has, e.Resource.ID)
		}
	}
	for id, is := range has {
		boxes = append(boxes, id+" "+is.Channel)
	}
	slices.Sort(boxes)
	return boxes
}

// stateOf is what an event shows of a box.
func stateOf(t *rapid.T, shown any) (is edge.Edge) {
	expect.OK(t, json.Unmarshal(expect.Value(json.Marshal(shown))(t), &is))
	return is
}
