package census_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
)

// TestWatched_TheGuardsSamples_LieAmongThem: at each stage and size, told or not. Unwatched boxes poll every few hours,
// and the guard would mistake them for silent. Those of a survey are asked for health numbers.
func TestWatched_TheGuardsSamples_LieAmongThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fleet := rapid.IntRange(1, 9).Draw(t, "fleet")
		boxes := rapid.SampledFrom([]int{1, 10, 100, 999, 1000, 1001, 1300, 2500, 5000, 12_000, 30_000}).Draw(t, "boxes") + rapid.IntRange(0, 500).Draw(t, "more")
		percent := rapid.SampledFrom(cohort.Stages).Draw(t, "stage")
		r := rollout.Rollout{ID: "r", EdgeType: "gateway-x", TargetVersion: fmt.Sprint("2.0.", fleet), StagedPercent: percent, StartedAt: noon,
			Terms: &rollout.Terms{Policy: guard.Default()}}
		c := census.KeepAll(r, noon)
		told := rapid.Bool().Draw(t, "told")
		for i := range boxes {
			row := report.Row{EdgeID: fmt.Sprintf("box-%d-%d", fleet, i), EdgeType: "gateway-x", Channel: "stable"}
			if stage := cohort.FirstStage("gateway-x", r.TargetVersion, row.EdgeID); told && stage <= percent {
				row, _ = report.Next(row, report.Polled{Told: r.TargetVersion, RolloutID: "r", Stage: stage, Running: "1.0.0", At: noon})
			}
			c.Add(row.Entry())
		}
		sizes := bell.Sizes{}
		for _, s := range c.Stages {
			sizes[s.Percent] = s.Expected
		}
		for _, sample := range append(c.Groups.Stages, c.Groups.Unreached, c.Awaited) {
			for _, e := range sample.Chosen() {
				if !sizes.Watched(e.EdgeID, cohort.FirstStage("gateway-x", r.TargetVersion, e.EdgeID)) {
					t.Fatalf("%s of a sample of %d is not watched: %v", e.EdgeID, sample.Boxes, sizes)
				}
			}
		}
		for _, box := range c.Survey() {
			if !sizes.Asked(box.EdgeID, cohort.FirstStage("gateway-x", r.TargetVersion, box.EdgeID)) {
				t.Fatalf("%s of a survey is not asked: %v", box.EdgeID, sizes)
			}
		}
	})
}
