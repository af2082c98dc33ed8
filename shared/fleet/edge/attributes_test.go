package edge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// pages reads a filtered list to its end, and returns its boxes and the number of its pages.
func (g *gate) pages(f edge.Filter, limit int) (ids []string, pages int) {
	g.Helper()
	span := dynamo.Span{Limit: limit}
	for {
		page := expect.Value(edge.NewStore(g.db).List(g.ctx(), f, span))(g)
		pages++
		for _, e := range page.Items {
			ids = append(ids, e.EdgeID[len(g.org)+1:])
		}
		if !page.More {
			return ids, pages
		}
		span.After = page.Last
	}
}

// TestList_ByAttribute_FindsWhatTheRegistrationOrTheBoxSays: in pages that look at two thousand boxes at most.
func TestList_ByAttribute_FindsWhatTheRegistrationOrTheBoxSays(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		g.box("a", map[string]string{"board": "C"}, nil)
		g.box("b", nil, map[string]string{"board": "C"})
		g.box("c", map[string]string{"board": "B"}, map[string]string{"board": "C"})
		g.box("d", nil, map[string]string{"modem": "C"})
		g.box("e", nil, nil)
		for _, limit := range []int{1, 2, 3} {
			ids, _ := g.pages(edge.Filter{OrganizationID: g.org, Attribute: "board:C"}, limit)
			expect.Equal(g, ids, []string{"a", "b"}, "pages of %d list", limit)
		}
		ids, _ := g.pages(edge.Filter{OrganizationID: g.org, IDPrefix: g.org + "-b", Attribute: "board:C"}, 5)
		expect.Equal(g, ids, []string{"b"}, "with a prefix:")
	})
}

func TestList_ByARareAttribute_GoesOnAfterTwoThousandBoxes(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		for i := range 2100 {
			e := edge.Edge{EdgeID: fmt.Sprintf("%s-%04d", g.org, i), EdgeType: "gateway-x", Channel: "stable", OrganizationID: g.org, Revision: 1}
			if i == 2050 {
				e.Attributes = map[string]string{"board": "C"}
			}
			expect.OK(g, g.db.Put(g.ctx(), dynamo.Edges, nil, e, dynamo.Absent("edgeId")))
		}
		ids, pages := g.pages(edge.Filter{OrganizationID: g.org, Attribute: "board:C"}, 50)
		expect.Equal(g, ids, []string{"2050"}, "it lists")
		expect.Equal(g, pages, 2, "pages:")
	})
}

// box registers a box that says something.
func (g *gate) box(id string, attributes, said map[string]string) {
	g.Helper()
	owner := g.by("olga", auth.PlatformOwner)
	expect.OK(g, g.assign(owner, id, edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: g.org, Attributes: attributes}))
	reports := report.NewStore(g.db, 1)
	row := expect.Value(reports.Get(g.ctx(), g.org+"-"+id))(g)
	expect.Value(reports.Observe(g.ctx(), edge.Of(row).Registration(), report.Description{Said: said, At: g.now}))(g)
}

// TestList_AfterAPositionOutsideOfTheFilter_IsEmpty: anyone can make a cursor, and so name any position.
func TestList_AfterAPositionOutsideOfTheFilter_IsEmpty(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		g.box("a", nil, nil)
		for name, f := range map[string]edge.Filter{
			"all of an organization": {OrganizationID: g.org}, "on a channel": {OrganizationID: g.org, EdgeType: "gateway-x", Channel: "stable"},
			"with a prefix": {OrganizationID: g.org, IDPrefix: g.org}, "pinned": {OrganizationID: g.org, Pinned: true},
			"pinned, with a prefix": {OrganizationID: g.org, IDPrefix: g.org, Pinned: true},
			"with an attribute":     {OrganizationID: g.org, IDPrefix: g.org, Attribute: "board:C"},
		} {
			page := expect.Value(edge.NewStore(g.db).List(g.ctx(), f, dynamo.Span{Limit: 5, After: "~~"}))(g)
			expect.Equal(g, len(page.Items), 0, "boxes %s:", name)
		}
	})
}

// TestBatch_WithMoreGroupsThanATransactionHolds_SaysHowMany: 30 boxes in 15 pairs are too many, and 24 are not.
func TestBatch_WithMoreGroupsThanATransactionHolds_SaysHowMany(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		owner := auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}
		pairs := func(boxes int) error {
			var batch []edge.BatchItem
			for i := range boxes {
				a := edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: g.org, FactoryID: new("munich-1"), Group: new(fmt.Sprint(g.org, i/2))}
				batch = append(batch, edge.BatchItem{EdgeID: fmt.Sprintf("%s-%d", g.org, i), Assignment: a})
			}
			_, err := g.edges.For(owner).PutAll(g.ctx(), audit.Origin{}, batch, idempotency.Claim{}, func(context.Context) (error, error) { return nil, nil })
			return err
		}
		err := pairs(30)
		expect.Equal(g, problem.Has(err, problem.Conflict) && strings.Contains(problem.From(err).Detail, "105 writes"), true, "30 boxes: %v", err)
		expect.OK(g, pairs(24))
	})
}
