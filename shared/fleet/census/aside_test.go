package census_test

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

// TestJudge_PinnedAndHeldBoxes_DoNotHoldARollout: of 200 boxes of the first stage, 60 are pinned or held since a time, and
// the others have run the release for a soak. Boxes that are restless by then do not either.
func TestJudge_PinnedAndHeldBoxes_DoNotHoldARollout(t *testing.T) {
	policy := guard.Default().For(false)
	policy.Promote.Auto = true
	start := noon.Add(-8 * 24 * time.Hour)
	r := rollout.Rollout{ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2", StagedPercent: 1, Status: rollout.Active, Revision: 1,
		StartedAt: start, StageSince: start, StageStarts: rollout.StageStarts{At1: &start}, Terms: &rollout.Terms{Policy: policy, Revision: 1}}
	for name, c := range map[string]struct {
		since, until time.Time
		action       guard.Action
		aside        int
		restless     bool // and told, and fallen back
	}{
		"pinned before the start":                {start.Add(-time.Hour), noon.Add(time.Hour), guard.Promote, 60, false},
		"held before the start":                  {start.Add(-time.Hour), time.Time{}, guard.Promote, 60, false},
		"pinned after the start":                 {start.Add(time.Second), noon.Add(time.Hour), guard.Hold, 0, false},
		"pinned before the start, and it ended":  {start.Add(-time.Hour), noon, guard.Hold, 0, false},
		"neither, and they never took the offer": {time.Time{}, time.Time{}, guard.Hold, 0, false},
		"restless before the start":              {start.Add(-time.Hour), time.Time{}, guard.Promote, 60, true},
		"restless since they have the release":   {start.Add(time.Hour), time.Time{}, guard.Hold, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			count := census.NewCensus(r, noon)
			var boxes []report.IndexEntry
			for i := 0; len(boxes) < 200; i++ {
				id := fmt.Sprintf("box-%d", i)
				if cohort.FirstStage(r.EdgeType, r.TargetVersion, id) != 1 {
					continue
				}
				e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), Running: "2", Version: "2", State: report.Installed, Stage: 1,
					RolloutID: "r", Since: start.Add(time.Hour)}
				if len(boxes) < 60 {
					e = report.IndexEntry{EdgeID: id, Hash: e.Hash, Running: "1", AsideSince: c.since, PinnedUntil: c.until}
					if c.restless {
						e.Restless, e.RolloutID, e.Version, e.State, e.Stage, e.Code = true, "r", "2", report.Reverted, 1, report.CodeReverted
					}
				}
				boxes = append(boxes, e)
				count.Add(e)
			}
			question := census.Ask(count, nil, false)
			var seen []census.Sighting
			for _, e := range question.Boxes() {
				seen = append(seen, census.Sighting{EdgeID: e.EdgeID, LastSeen: noon, Restless: e.Restless, Offer: report.Offer{RolloutID: e.RolloutID, Version: e.Version, State: e.State, Since: e.Since}})
			}
			got := question.Judge(seen, nil, func() ([]guard.Kind, []guard.Worker) { return []guard.Kind{}, nil })
			expect.Equal(t, got.Action, c.action, "%s", got.Sentence)
			expect.Equal(t, got.Aside, c.aside, "boxes aside")
			expect.Equal(t, got.Halting.Bad, 0, "bad boxes")
		})
	}
}

func TestVersions_CountsPins_AndNamesTheOldest(t *testing.T) {
	now := noon
	entry := func(id string, since, until time.Duration) report.IndexEntry {
		e := report.IndexEntry{EdgeID: id, Running: "1", AsideSince: now.Add(since)}
		if until != 0 {
			e.PinnedUntil = now.Add(until)
		}
		return e
	}
	a, b := census.NewVersions(now), census.NewVersions(now)
	a.Add(entry("box-1", -time.Hour, time.Hour))
	a.Add(entry("box-2", -9*time.Hour, -time.Second)) // has ended
	b.Add(entry("box-3", -2*time.Hour, time.Hour))
	b.Add(entry("box-4", -3*time.Hour, 0)) // held
	b.Add(report.IndexEntry{EdgeID: "box-5", Running: "1"})
	a.Merge(*b)
	pinned, held, oldest := a.Aside()
	expect.Equal(t, []int{a.Boxes(), pinned, held}, []int{5, 2, 1}, "all, pinned and held boxes")
	expect.Equal(t, oldest, &census.OldestPin{EdgeID: "box-3", Since: now.Add(-2 * time.Hour)}, "the oldest pin")
}
