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

// TestWorkers_AreTheBoxesThatTheGuardWatches, and only what they said lately about the version that they run counts.
func TestWorkers_AreTheBoxesThatTheGuardWatches(t *testing.T) {
	at := noon.Add(48 * time.Hour)
	of := rollout.Rollout{
		ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2.0.0", StagedPercent: 50, StartedAt: noon, StageSince: noon, Status: rollout.Active,
		StageStarts: rollout.StageStarts{At1: new(noon), At10: new(noon), At50: new(noon)}, Terms: &rollout.Terms{Policy: guard.Default()},
	}
	workers := func(of rollout.Rollout, said *report.Health) []guard.Worker {
		c := census.KeepAll(of, at)
		for i := range 3000 {
			id := fmt.Sprintf("box-%04d", i)
			e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), OrganizationID: "acme", Running: "1.0.0"}
			if stage := cohort.FirstStage(of.EdgeType, of.TargetVersion, id); stage <= 50 {
				e.RolloutID, e.Version, e.State, e.Stage, e.Since, e.Running = of.ID, of.TargetVersion, report.Installed, stage, noon, of.TargetVersion
			}
			c.Add(e)
		}
		boxes := c.Survey()
		for i := range boxes {
			boxes[i].Health = said
		}
		return c.Groups.Workers(boxes)
	}
	expect.Equal(t, len(workers(of, nil)), 0, "workers without a number in the policy")
	of.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "higher"}}
	numbers := map[string]float64{"cycle": 1}
	for name, c := range map[string]struct {
		said                    *report.Health
		reached, others, before bool // say something now, and before
	}{
		"nothing":          {nil, false, false, false},
		"with the target":  {&report.Health{Version: "2.0.0", Before: numbers, Now: numbers, Running: "2.0.0", At: at}, true, false, true},
		"with the old one": {&report.Health{Version: "2.0.0", Before: numbers, Now: numbers, Running: "1.0.0", At: at}, false, true, true},
		"a day ago":        {&report.Health{Version: "2.0.0", Before: numbers, Now: numbers, Running: "2.0.0", At: at.Add(-24 * time.Hour)}, false, false, true},
		"for another one":  {&report.Health{Version: "1.9.0", Before: numbers, Now: numbers, Running: "2.0.0", At: at}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			counts := map[bool]int{}
			for _, w := range workers(of, c.said) {
				counts[w.Reached]++
				says := c.others
				if w.Reached {
					says = c.reached
				}
				if (w.Now != nil) != says || (w.Before != nil) != c.before {
					t.Fatalf("%+v", w)
				}
			}
			if counts[false] != 1000 || counts[true] < 1000 || counts[true] > 1500 { // a thousand of stage 50, and those before
				t.Errorf("%v are asked", counts)
			}
		})
	}
}
