package edge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// polls records what a box was told and says.
func (g *gate) polls(id string, p report.Polled) {
	g.Helper()
	reports := report.NewStore(g.db, 1)
	row := expect.Value(reports.Get(g.ctx(), g.org+"-"+id))(g)
	p.Subject, p.At = id, g.now
	expect.Value(reports.Observe(g.ctx(), edge.Of(row).Registration(), p))(g)
}

func TestList_ByWhatHasNoIndex_FindsTheBoxes(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		owner, munich := g.by("olga", auth.PlatformOwner), "munich-1"
		for _, id := range []string{"line-A-1", "line-a-2", "line-b-1", "office"} {
			a := edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: g.org}
			if id != "office" {
				a.FactoryID = &munich
			}
			if id == "line-b-1" {
				a.EdgeType, a.Channel = "gateway-y", "canary"
			}
			expect.OK(g, g.assign(owner, id, a))
		}
		g.polls("line-A-1", report.Polled{Told: "2.0.0", Running: "1.0.0"})
		g.polls("line-a-2", report.Polled{Told: "2.0.0", RolloutID: "r", Running: "2.0.0"})
		g.polls("line-a-2", report.Polled{Told: "2.0.0", RolloutID: "r", Running: "1.0.0"})
		g.polls("line-b-1", report.Polled{Told: "1.0.0", Running: "1.0.0"})
		for name, c := range map[string]struct {
			f    edge.Filter
			want []string
		}{
			"all":                         {edge.Filter{IDPrefix: g.org}, []string{"line-A-1", "line-a-2", "line-b-1", "office"}},
			"a part, in any case":         {edge.Filter{IDPrefix: g.org, IDPart: "NE-a-"}, []string{"line-A-1", "line-a-2"}},
			"a factory":                   {edge.Filter{IDPrefix: g.org, FactoryID: munich}, []string{"line-A-1", "line-a-2", "line-b-1"}},
			"a type":                      {edge.Filter{IDPrefix: g.org, EdgeType: "gateway-y"}, []string{"line-b-1"}},
			"a type of an organization":   {edge.Filter{OrganizationID: g.org, EdgeType: "gateway-x"}, []string{"line-A-1", "line-a-2", "office"}},
			"what they run":               {edge.Filter{OrganizationID: g.org, Version: "1.0.0"}, []string{"line-A-1", "line-a-2", "line-b-1"}},
			"a state":                     {edge.Filter{OrganizationID: g.org, State: "offered"}, []string{"line-A-1"}},
			"trouble, in a factory":       {edge.Filter{OrganizationID: g.org, FactoryID: munich, State: "trouble"}, []string{"line-a-2"}},
			"two conditions, none of all": {edge.Filter{IDPrefix: g.org, IDPart: "line", State: "restless"}, nil},
		} {
			g.Run(name, func(t *testing.T) {
				here := *g
				here.T = t
				for _, limit := range []int{1, 2, 9} {
					ids, _ := here.pages(c.f, limit)
					expect.Equal(t, ids, c.want, "pages of %d list", limit)
				}
			})
		}
		page, err := edge.NewStore(g.db).List(g.ctx(), edge.Filter{OrganizationID: g.org, IDPart: "line-a-2"}, dynamo.Span{Limit: 5})
		expect.OK(g, err)
		expect.Equal(g, []string{page.Items[0].Running, page.Items[0].State}, []string{"1.0.0", "reverted"}, "it shows what the box runs, and its state:")
	})
}

// TestList_OfWaitingBoxes_GoesOnWithThoseThatAPageDidNotDecide: a page of this source decides three boxes.
func TestList_OfWaitingBoxes_GoesOnWithThoseThatAPageDidNotDecide(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		owner := g.by("olga", auth.PlatformOwner)
		var want []string
		for i := range 10 {
			id := fmt.Sprint("b-", i)
			expect.OK(g, g.put(owner, id))
			if i%2 == 1 {
				want = append(want, g.org+"-"+id)
			}
		}
		opens := g.now.Add(time.Hour)
		waits := func() edge.Waits {
			return func(_ context.Context, boxes []edge.Shown, rows map[string]report.Row) (all []calendar.Wait, err error) {
				for _, b := range boxes[:min(3, len(boxes))] {
					if rows[b.EdgeID].EdgeType == "" {
						t.Errorf("%s has no row", b.EdgeID)
					}
					wait := calendar.Wait{}
					if b.EdgeID[len(b.EdgeID)-1]%2 == 1 {
						wait = calendar.Wait{For: calendar.ForWindow, Opens: opens}
					}
					all = append(all, wait)
				}
				return all, nil
			}
		}
		var got []string
		span := dynamo.Span{Limit: 50}
		for {
			page, err := edge.NewStore(g.db).Waiting(waits).List(g.ctx(), edge.Filter{OrganizationID: g.org, State: "waiting"}, span)
			expect.OK(g, err)
			for _, e := range page.Items {
				got = append(got, e.EdgeID)
				expect.Equal(g, e.Waits+" "+fmt.Sprint(e.OpensAt), "window "+fmt.Sprint(opens), "it waits for")
			}
			if span.After = page.Last; !page.More {
				break
			}
		}
		expect.Equal(g, got, want, "it lists")
	})
}

func TestList_OfAll_LeavesOutRetiredBoxes(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		owner := g.by("olga", auth.PlatformOwner)
		for _, id := range []string{"a", "b", "c"} {
			expect.OK(g, g.put(owner, id))
		}
		expect.OK(g, g.edges.For(owner).Retire(g.ctx(), audit.Origin{}, g.org+"-a", input.Preconditions{}))
		ids, _ := g.pages(edge.Filter{IDPrefix: g.org}, 5)
		expect.Equal(g, ids, []string{"b", "c"}, "it lists")
	})
}
