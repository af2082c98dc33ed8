package census

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/expect"
)

// TestJudge_BoxesWhosePlantOptedOut_HoldNoRollout_AndAreNoEvidence: 60 of 200 boxes of a stage, or all of them.
func TestJudge_BoxesWhosePlantOptedOut_HoldNoRollout_AndAreNoEvidence(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	start := now.Add(-8 * 24 * time.Hour)
	policy := guard.Default().For(false)
	policy.Promote.Auto = true
	r := rollout.Rollout{ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2", StagedPercent: 1, Status: rollout.Active, Revision: 1,
		StartedAt: start, StageSince: start, StageStarts: rollout.StageStarts{At1: &start}, Terms: &rollout.Terms{Policy: policy, Revision: 1}}
	out := &calendar.Updates{OptOut: &calendar.OptOut{Of: calendar.OfOrdinary}}
	for name, c := range map[string]struct {
		untold  int
		updates *calendar.Updates
		action  guard.Action
		boxes   int
	}{
		"60 opted out":           {60, out, guard.Promote, 140},
		"60 take updates":        {60, nil, guard.Hold, 200},
		"all opted out":          {200, out, guard.Promote, 0},
		"all take updates":       {200, nil, guard.Hold, 200},
		"60 opted out until now": {60, &calendar.Updates{OptOut: &calendar.OptOut{Of: calendar.OfAll, Until: &now}}, guard.Hold, 200},
	} {
		t.Run(name, func(t *testing.T) {
			count := NewCensus(r, now)
			for i, n := 0, 0; n < 200; i++ {
				id := fmt.Sprintf("box-%d", i)
				if cohort.FirstStage(r.EdgeType, r.TargetVersion, id) != 1 {
					continue
				}
				e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), Running: "1", FactoryID: "munich-1"}
				if n >= c.untold {
					e.FactoryID, e.Running, e.Version, e.State, e.Stage, e.RolloutID, e.Since = "", "2", "2", report.Installed, 1, "r", start.Add(time.Hour)
				}
				count.Add(e)
				n++
			}
			waiting := count.wait([]plant.Plant{{FactoryID: "munich-1", OrganizationID: "acme", Updates: c.updates}})
			if c.action == guard.Promote {
				expect.That(t, waiting != nil && waiting.OptedOut == c.untold && waiting.Closed[0].OrganizationID == "acme", "%+v waits", waiting)
			} else {
				expect.That(t, waiting == nil, "%+v waits", waiting)
			}
			question := Ask(count, nil, false)
			var seen []Sighting
			for _, e := range question.Boxes() {
				seen = append(seen, Sighting{EdgeID: e.EdgeID, FactoryID: e.FactoryID, LastSeen: now, Offer: report.Offer{RolloutID: e.RolloutID, Version: e.Version, State: e.State, Since: e.Since}})
			}
			got := question.Judge(seen, nil, func() ([]guard.Kind, []guard.Worker) { return []guard.Kind{}, nil })
			expect.Equal(t, got.Action, c.action, "%s", got.Sentence)
			expect.Equal(t, got.Taken.Boxes, c.boxes, "boxes that count")
		})
	}
}
