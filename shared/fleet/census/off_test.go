package census_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

// TestJudge_WhatIsSwitchedOff_CountsInBothGroups: half of the boxes of each of two organizations are switched off, since before
// the last stage, or for less time than boxes that are not watched need to be missed.
func TestJudge_WhatIsSwitchedOff_CountsInBothGroups(t *testing.T) {
	start, last := noon.Add(-8*24*time.Hour), noon.Add(-time.Hour)
	for name, off := range map[string]time.Duration{"since before the last stage": 30 * time.Hour, "for some hours": 8 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := rollout.Rollout{ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2", StagedPercent: 10, Status: rollout.Active,
				StartedAt: start, StageSince: last, StageStarts: rollout.StageStarts{At1: &start, At10: &last}, Terms: &rollout.Terms{Policy: guard.Default()}}
			c, sizes := census.KeepAll(r, noon), bell.Sizes{}
			for i := range 12_000 {
				id := fmt.Sprintf("box-%d", i)
				stage := cohort.FirstStage(r.EdgeType, r.TargetVersion, id)
				sizes[stage]++
				e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), OrganizationID: fmt.Sprint("organization-", i%2), Running: "1"}
				if stage == 1 {
					e.Running, e.Version, e.State, e.Stage, e.RolloutID, e.Since = "2", "2", report.Installed, stage, r.ID, start.Add(time.Hour)
				}
				c.Add(e)
			}
			lastSeen := func(e report.IndexEntry) time.Time {
				stage := cohort.FirstStage(r.EdgeType, r.TargetVersion, e.EdgeID)
				at := noon
				if report.Place(e.EdgeID)%2 == 0 {
					at = noon.Add(-off)
				}
				if sizes.Watched(e.EdgeID, stage) {
					return at
				}
				return at.Add(-time.Duration(report.Place(e.EdgeID)%360) * time.Minute)
			}
			boxes := c.Survey()
			for i, box := range boxes {
				boxes[i].LastSeen = lastSeen(box.IndexEntry)
			}
			counted := 0
			for _, k := range c.Groups.Kinds(boxes, 12*time.Hour) {
				if k.Name == "organization" {
					counted += k.Treated.Boxes + k.Control.Boxes
				}
				if p := float64(k.Treated.Silent) / float64(k.Treated.Boxes); p > float64(k.Control.Silent)/float64(k.Control.Boxes)+0.1 {
					t.Errorf("%+v", k)
				}
			}
			expect.Equal(t, counted, len(boxes), "boxes that a survey compares")
			question := census.Ask(c, nil, true)
			var seen []census.Sighting
			for _, e := range question.Boxes() {
				seen = append(seen, census.Sighting{EdgeID: e.EdgeID, LastSeen: lastSeen(e), Offer: report.Offer{RolloutID: e.RolloutID, Version: e.Version, State: e.State, Since: e.Since}})
			}
			got := question.Judge(seen, nil, nil)
			expect.That(t, got.Action != guard.Halt && !slices.Contains(got.Reasons, guard.FactoryBad),
				"%s", got.Sentence)
		})
	}
}

// TestJudge_ASmallPlantThatIsOff_HarmsNobody: it is off since before the last stage, with its box that has the release.
func TestJudge_ASmallPlantThatIsOff_HarmsNobody(t *testing.T) {
	start, last := noon.Add(-8*24*time.Hour), noon.Add(-time.Hour)
	policy := guard.Default()
	policy.Guard.SmallFleet = guard.AllDecided
	r := rollout.Rollout{ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2", StagedPercent: 10, Status: rollout.Active,
		StartedAt: start, StageSince: last, StageStarts: rollout.StageStarts{At1: &start, At10: &last}, Terms: &rollout.Terms{Policy: policy}}
	c, off := census.NewCensus(r, noon), map[string]bool{}
	missing := map[int]int{1: 1, 10: 3, 50: 8, 100: 12}
	for i := 0; missing[1]+missing[10]+missing[50]+missing[100] > 0; i++ {
		id := fmt.Sprintf("box-%d", i)
		stage := cohort.FirstStage(r.EdgeType, r.TargetVersion, id)
		if missing[stage] == 0 {
			continue
		}
		missing[stage]--
		e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), FactoryID: "on", Running: "1"}
		if missing[stage] == 0 && stage != 10 {
			e.FactoryID, off[id] = "off", true
		}
		if stage == 1 {
			e.Running, e.Version, e.State, e.Stage, e.RolloutID, e.Since = "2", "2", report.Installed, stage, r.ID, start.Add(time.Hour)
		}
		c.Add(e)
	}
	question := census.Ask(c, nil, true)
	var seen []census.Sighting
	for _, e := range question.Boxes() {
		s := census.Sighting{EdgeID: e.EdgeID, LastSeen: noon, Offer: report.Offer{RolloutID: e.RolloutID, Version: e.Version, State: e.State, Since: e.Since}}
		if off[e.EdgeID] {
			s.LastSeen = noon.Add(-30 * time.Hour)
		}
		seen = append(seen, s)
	}
	got := question.Judge(seen, nil, nil)
	expect.That(t, got.Few != nil && got.Few.Quiet != 0 && got.Few.Harmed == 0, "%+v: %s", got.Few, got.Sentence)
}
