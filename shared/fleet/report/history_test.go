package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// lives stores some boxes' lives, and returns what a list that keeps everything knows of them.
func (w *world) lives(t *rapid.T, boxes int) (known map[string][]report.Spell) {
	known = map[string][]report.Spell{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for box := range boxes {
		id, running := fmt.Sprintf("%s-%d", w.prefix, box), ""
		organization := "acme"
		g := report.Registration{EdgeID: id, EdgeType: w.prefix, Channel: "stable", OrganizationID: organization, At: at}
		w.register(t, g)
		ends := func(why report.End) {
			if running != "" {
				known[id] = append(known[id], report.Spell{Version: running, OrganizationID: organization, End: why})
			}
		}
		for range rapid.IntRange(0, 8).Draw(t, "events") {
			at = at.Add(time.Hour)
			if rapid.IntRange(0, 3).Draw(t, "event") == 0 {
				ends(report.Moved)
				running, organization = "", map[string]string{"acme": "rival", "rival": "acme"}[organization]
				g.OrganizationID, g.At = organization, at
				was := expect.Value(w.store.Get(t.Context(), id))(t)
				next := was.Registered(g)
				expect.OK(t, w.db.Commit(admission.Unlimited(t.Context()), append(w.store.Ending(was, next, at), w.store.Part(was, next))...))
				continue
			}
			version := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "version")
			if version != running {
				ends(report.Replaced)
				running = version
			}
			expect.Value(w.store.Observe(admission.Unlimited(t.Context()), g, report.Polled{Running: version, At: at}))(t)
		}
		ends("")
	}
	return known
}

// walked reads all pages of a list.
func walked[T any](t *rapid.T, limit int, read func(position string) (dynamo.Page[T], error), position func(T) string) (all []T) {
	for at, more := "", true; more; {
		page := expect.Value(read(at))(t)
		expect.Must(t, len(page.Items) == limit || !page.More && len(page.Items) < limit, "a page of %d, limit %d, more %t", len(page.Items), limit, page.More)
		if all, more = append(all, page.Items...), page.More; more {
			at = position(all[len(all)-1])
		}
	}
	return all
}

// ranBefore compares the count of a version's boxes with its spells.
func ranBefore(t *rapid.T, w *world, version string, spells []report.Past) {
	boxes, began := map[string]bool{}, []time.Time{}
	for _, p := range spells {
		if p.RanAt != nil {
			boxes[p.EdgeID], began = true, append(began, *p.RanAt)
		}
	}
	ran := expect.Value(w.store.Ran(t.Context(), w.prefix, version))(t)
	expect.Equal(t, ran.Boxes, len(boxes), "the boxes that ran %s before", version)
	slices.SortFunc(began, time.Time.Compare)
	expect.Must(t, len(began) == 0 && ran.First == nil || ran.First.RanAt.Equal(began[0]) && ran.Last.RanAt.Equal(began[len(began)-1]),
		"the first and the last one that ran %s: %v, %v, want of %v", version, ran.First, ran.Last, began)
}

// TestHistory_OfRandomLives_IsWhatWasSeen: what a box ran, for each organization what was its own, and who ever ran a version.
func TestHistory_OfRandomLives_IsWhatWasSeen(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			w, limit := newWorld(client, 4), rapid.IntRange(1, 4).Draw(t, "limit")
			known := w.lives(t, 4)
			for _, organization := range []string{"", "acme", "rival"} {
				own := func(p report.Spell) bool { return organization == "" || p.OrganizationID == organization }
				ever := map[string]int{} // by version, what has ended
				for id := range w.rows {
					var want []string
					for _, p := range slices.Backward(known[id]) {
						if own(p) {
							want = append(want, fmt.Sprint(p.Version, p.OrganizationID, p.End))
						}
						if own(p) && p.End != "" {
							ever[p.Version]++
						}
					}
					row := expect.Value(w.store.Get(t.Context(), id))(t)
					got := walked(t, limit, func(before string) (dynamo.Page[report.Spell], error) {
						return w.store.History(t.Context(), id, row, organization, before, limit)
					}, report.Spell.Began)
					var has []string
					for _, p := range got {
						has = append(has, fmt.Sprint(p.Version, p.OrganizationID, p.End))
					}
					expect.Must(t, slices.Equal(has, want), "%q sees of %s %v, want %v", organization, id, has, want)
				}
				for _, version := range []string{"1", "2", "3"} {
					got := walked(t, limit, func(position string) (dynamo.Page[report.Past], error) {
						return w.store.EverRan(t.Context(), w.prefix, version, organization, position, limit)
					}, report.PositionOf)
					seen := map[string]bool{}
					for _, p := range got {
						expect.Must(t, own(p.Spell) && p.Version == version && !seen[p.Place], "%q sees %+v among those of %s", organization, p, version)
						seen[p.Place] = true
					}
					if organization == "" {
						ranBefore(t, w, version, got)
					}
					expect.Must(t, len(got) == ever[version], "%q sees %d boxes that ran %s before, want %d", organization, len(got), version, ever[version])
				}
			}
		})
	})
}
