package census

import (
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestTaken_ABoxThatWasOffLongBefore_CountsForNothing_UntilItCallsAgain.
func TestTaken_ABoxThatWasOffLongBefore_CountsForNothing_UntilItCallsAgain(t *testing.T) {
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	g := NewCensus(onEveryBox(now), now).Groups
	stage := len(g.starts) - 1
	began := g.starts[stage]
	good := Sighting{LastSeen: now, Offer: report.Offer{RolloutID: g.of.ID, State: report.Installed, Since: now.Add(-60 * 24 * time.Hour)}}
	told := Sighting{LastSeen: began.Add(-9 * 24 * time.Hour), Offer: report.Offer{RolloutID: g.of.ID, State: report.Offered, Since: now.Add(-24 * time.Hour)}}
	for name, c := range map[string]struct {
		box        Sighting
		want       int
		registered time.Time
	}{
		"nine days before":         {Sighting{LastSeen: began.Add(-9 * 24 * time.Hour)}, 1, time.Time{}},
		"it never called":          {Sighting{Never: true}, 1, time.Time{}},
		"never, and it is new":     {Sighting{Never: true}, 0, began.Add(-7 * 24 * time.Hour)},
		"a week before":            {Sighting{LastSeen: began.Add(-7 * 24 * time.Hour)}, 0, time.Time{}},
		"nobody knows":             {Sighting{}, 0, time.Time{}},
		"it came back":             {Sighting{LastSeen: now}, 0, time.Time{}},
		"it came back, was told":   {told, 0, time.Time{}},
		"it runs the release well": {good, 0, time.Time{}},
	} {
		var boxes []lookedUp
		for range 19 {
			boxes = append(boxes, lookedUp{seen: good})
		}
		taken := g.taken(stage, append(boxes, lookedUp{report.IndexEntry{RegisteredAt: c.registered}, c.box}), true)
		expect.Equal(t, []int{taken.Dormant, taken.Boxes}, []int{c.want, 20 - c.want}, "%s: set aside, and counted:", name)
	}
}

// TestTaken_IfMostBoxesWereOffLongBefore_AllCount: but a small stage has hardly any others.
func TestTaken_IfMostBoxesWereOffLongBefore_AllCount(t *testing.T) {
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	g := NewCensus(onEveryBox(now), now).Groups
	off := lookedUp{seen: Sighting{Never: true}}
	for of, want := range map[int]int{20: 10, 21: 0, 9: 9} {
		var boxes []lookedUp
		for i := range of {
			if of == 20 && i%2 == 0 {
				boxes = append(boxes, lookedUp{seen: Sighting{LastSeen: now}})
				continue
			}
			boxes = append(boxes, off)
		}
		taken := g.taken(len(g.starts)-1, boxes, true)
		expect.Equal(t, []int{taken.Dormant, taken.Boxes}, []int{want, of - want}, "of %d, set aside, and counted:", of)
		expect.Equal(t, taken.Causes[guard.NotPolled] > 0, of == 21, "of %d, some have not polled:", of)
	}
}
