package census_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
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
				expect.Must(t, sizes.Watched(e.EdgeID, cohort.FirstStage("gateway-x", r.TargetVersion, e.EdgeID)),
					"%s of a sample of %d is not watched: %v", e.EdgeID, sample.Boxes, sizes)
			}
		}
		for _, box := range c.Survey() {
			expect.Must(t, sizes.Asked(box.EdgeID, cohort.FirstStage("gateway-x", r.TargetVersion, box.EdgeID)),
				"%s of a survey is not asked: %v", box.EdgeID, sizes)
		}
	})
}

// TestJudge_BoxesThatAreNotWatched_AreNotSilent: they poll every few hours. A third of the boxes is pinned, left out or new, so a
// sample of the others is larger than what is watched of them.
func TestJudge_BoxesThatAreNotWatched_AreNotSilent(t *testing.T) {
	start := noon.Add(-9 * 24 * time.Hour)
	for name, change := range map[string]func(*report.IndexEntry){
		"pinned":   func(e *report.IndexEntry) { e.AsideSince, e.PinnedUntil = start.Add(-time.Hour), noon.Add(time.Hour) },
		"left out": func(e *report.IndexEntry) { e.OrganizationID = "acme" },
		"new":      func(e *report.IndexEntry) { e.RegisteredAt = noon.Add(-time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rollout.Rollout{ID: "r", EdgeType: "gateway-x", TargetVersion: "2", StagedPercent: 50, StartedAt: start, StageSince: start, Status: rollout.Active,
				Without: []string{"acme"}, StageStarts: rollout.StageStarts{At1: &start, At10: &start, At50: &start}, Terms: &rollout.Terms{Policy: guard.Default()}}
			c, sizes := census.KeepAll(r, noon), bell.Sizes{}
			for i := range 12_000 {
				id := fmt.Sprintf("box-%d", i)
				e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), Running: "1", OrganizationID: "other"}
				stage := cohort.FirstStage(r.EdgeType, r.TargetVersion, id)
				sizes[stage]++
				if i%3 == 0 {
					change(&e)
				} else if stage <= 50 {
					e.Running, e.Version, e.State, e.Stage, e.RolloutID, e.Since = "2", "2", report.Installed, stage, r.ID, start.Add(time.Hour)
				}
				c.Add(e)
			}
			lastSeen := func(e report.IndexEntry) time.Time {
				if sizes.Watched(e.EdgeID, cohort.FirstStage(r.EdgeType, r.TargetVersion, e.EdgeID)) {
					return noon
				}
				return noon.Add(-5 * time.Hour)
			}
			surveyed := c.Survey()
			for i, box := range surveyed {
				surveyed[i].LastSeen = lastSeen(box.IndexEntry)
			}
			for _, k := range c.Groups.Kinds(surveyed, 12*time.Hour) {
				expect.That(t, k.Treated.Silent+k.Control.Silent == 0, "in a survey: %+v", k)
			}
			question := census.Ask(c, nil, true)
			var seen []census.Sighting
			for _, e := range question.Boxes() {
				seen = append(seen, census.Sighting{EdgeID: e.EdgeID, LastSeen: lastSeen(e), Offer: report.Offer{RolloutID: e.RolloutID, Version: e.Version, State: e.State, Since: e.Since}})
			}
			if v := question.Judge(seen, nil, nil); v.Treated.Boxes < 500 || v.Control.Boxes < 500 || v.Treated.Silent+v.Control.Silent > 0 {
				t.Errorf("with the release %+v, without %+v: %s", v.Treated, v.Control, v.Sentence)
			}
		})
	}
}
