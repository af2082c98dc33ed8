package census_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestSurvey_CountsEachKind: ten reached boxes with hardware revision C are told a release, in two factories each of two
// organizations, and ten others are not.
func TestSurvey_CountsEachKind(t *testing.T) {
	at := noon.Add(48 * time.Hour)
	of := rollout.Rollout{
		ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2.0.0", StagedPercent: 50, StartedAt: noon, StageSince: noon, Status: rollout.Active,
		StageStarts: rollout.StageStarts{At1: new(noon), At10: new(noon), At50: new(noon)}, Terms: &rollout.Terms{Policy: guard.Default()},
	}
	c := census.KeepAll(of, at)
	counts := map[bool]int{}
	for i := 0; counts[true] < 40 || counts[false] < 40; i++ {
		id := fmt.Sprintf("box-%03d", i)
		stage := cohort.FirstStage(of.EdgeType, of.TargetVersion, id)
		if reached := stage <= 50; counts[reached] < 40 {
			n := counts[reached]
			e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), FactoryID: fmt.Sprintf("plant-%d", n%4),
				OrganizationID: fmt.Sprintf("organization-%d", n%2)}
			if reached {
				e.RolloutID, e.Version, e.State, e.Stage, e.Since = of.ID, of.TargetVersion, report.Installed, stage, noon
				if n < 10 {
					e.State, e.Code = report.Reverted, report.CodeReverted
				}
			}
			c.Add(e)
			counts[reached]++
		}
	}
	boxes := c.Survey()
	expect.Equal(t, len(boxes), 80, "boxes to look up")
	for i, box := range boxes {
		boxes[i].LastSeen = at
		boxes[i].Attributes = map[string]string{"revision": "B", "factory": "made up"}
		if box.State == report.Reverted {
			boxes[i].Attributes["revision"] = "C"
		}
		if box.FactoryID == "plant-0" {
			boxes[i].LastSeen = at.Add(-24 * time.Hour) // it is switched off
		}
	}
	byName, parts := map[string]guard.Kind{}, map[string]guard.Kind{}
	for _, k := range c.Groups.Kinds(boxes, 0) {
		if k.Value == "C" {
			parts = k.By
		}
		k.By = nil
		byName[k.Name+"="+k.Value] = k
	}
	expect.Equal(t, byName["revision=C"], guard.Kind{Name: "revision", Value: "C", Factories: 4, BadFactories: 4,
		Share: guard.Share{Told: 10, Bad: 10, Decided: 10, Treated: guard.Group{Boxes: 7}}}, "the kind of the bad boxes is")
	expect.Equal(t, byName["revision=B"], guard.Kind{Name: "revision", Value: "B", Factories: 4,
		Share: guard.Share{Told: 30, Decided: 30, Treated: guard.Group{Boxes: 23}, Control: guard.Group{Boxes: 30}}}, "the other kind is")
	expect.Equal(t, byName["organization=organization-1"], guard.Kind{Name: "organization", Value: "organization-1", Factories: 2, BadFactories: 2,
		Share: guard.Share{Told: 20, Bad: 5, Decided: 20, Treated: guard.Group{Boxes: 20}, Control: guard.Group{Boxes: 20}}}, "an organization is")
	five := guard.Kind{Factories: 2, BadFactories: 2, Share: guard.Share{Told: 5, Bad: 5, Decided: 5, Treated: guard.Group{Boxes: 5}}}
	first := five
	first.Treated.Boxes = 2
	expect.Equal(t, parts, map[string]guard.Kind{"organization-0": first, "organization-1": five}, "the organizations contribute to the kind")
	_, made := byName["factory=made up"]
	expect.That(t, !made, "an attribute replaces the factory")
}

// TestSurvey_SilentBoxes_CountUnlessTheirFactoryIsOff: a factory is off if three boxes or more show it.
func TestSurvey_SilentBoxes_CountUnlessTheirFactoryIsOff(t *testing.T) {
	at := noon.Add(48 * time.Hour)
	c := census.KeepAll(rollout.Rollout{StartedAt: noon, StageStarts: rollout.StageStarts{At1: new(noon)}, Terms: &rollout.Terms{Policy: guard.Default()}}, at)
	for in, want := range []int{0, 1, 2, 0} {
		boxes := []census.Surveyed{{IndexEntry: report.IndexEntry{FactoryID: "hamburg"}, LastSeen: at}}
		for range in {
			boxes = append(boxes, census.Surveyed{IndexEntry: report.IndexEntry{FactoryID: "munich"}, LastSeen: at.Add(-24 * time.Hour)})
		}
		silent := 0
		for _, k := range c.Groups.Kinds(boxes, 0) {
			if k.Value == "munich" {
				silent = k.Control.Silent
			}
		}
		expect.Equal(t, silent, want, "of %d in a factory, silent are", in)
	}
}

// TestSurvey_NamesThatOneOrganizationMakesUp_HideNoneOfTheOthers: one has far more boxes, and far more names than a survey
// uses.
func TestSurvey_NamesThatOneOrganizationMakesUp_HideNoneOfTheOthers(t *testing.T) {
	c := census.KeepAll(rollout.Rollout{StageStarts: rollout.StageStarts{At1: new(noon)}, Terms: &rollout.Terms{Policy: guard.Default()}}, noon)
	var boxes []census.Surveyed
	add := func(organization string, attributes map[string]string) {
		boxes = append(boxes, census.Surveyed{IndexEntry: report.IndexEntry{OrganizationID: organization}, Attributes: attributes})
	}
	for range 3 {
		add("small", map[string]string{"revision": "C", "modem": "LTE"})
	}
	for i := range 1000 {
		made := map[string]string{"modem": "5G"}
		for n := range 15 {
			made[fmt.Sprint("name-", (i*15+n)%100)] = "x"
		}
		add("loud", made)
	}
	names := map[string]bool{}
	for _, k := range c.Groups.Kinds(boxes, 0) {
		names[k.Name] = true
	}
	expect.Equal(t, len(names), 64+2, "names, with the organization and with all boxes, but without the factory, which none has:")
	for _, name := range []string{"revision", "modem"} {
		expect.Equal(t, names[name], true, "the survey knows %s:", name)
	}
}

// TestSurvey_OfALargeFleet_LooksUpHalfOfEachGroup.
func TestSurvey_OfALargeFleet_LooksUpHalfOfEachGroup(t *testing.T) {
	of := rollout.Rollout{
		ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2.0.0", StagedPercent: 10, StartedAt: noon, StageSince: noon, Status: rollout.Active,
		StageStarts: rollout.StageStarts{At1: new(noon), At10: new(noon)}, Terms: &rollout.Terms{Policy: guard.Default()},
	}
	c := census.KeepAll(of, noon)
	reached := 0
	for i := range 14_000 {
		id := fmt.Sprintf("box-%05d", i)
		if cohort.FirstStage(of.EdgeType, of.TargetVersion, id) <= 10 {
			reached++
		}
		c.Add(report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id))})
	}
	expect.Equal(t, len(c.Survey()), reached+6000, "boxes to look up")
}

// TestGuard_AKindOfBoxesDies_ItHaltsAndNamesIt: three reached boxes have hardware revision C, and die; sixty more of
// the kind live on without the release.
func TestGuard_AKindOfBoxesDies_ItHaltsAndNamesIt(t *testing.T) {
	g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 240, "acme", "initech")
	g.raise(10)
	g.now = g.now.Add(time.Second) // the limiter's times are rounded down
	reached := g.reached()
	dead := map[string]bool{}
	kind := func(id string) {
		at := slices.Index(g.boxes, id)
		a := edge.Assignment{EdgeType: g.edgeType, Channel: g.channel, OrganizationID: []string{"acme", "initech"}[at%2],
			Attributes: map[string]string{"revision": "C"}}
		expect.Value(g.registry.Put(g.ctx, audit.Origin{}, id, a, input.Preconditions{}))(t)
	}
	others := 0
	for _, id := range g.boxes {
		switch is := slices.Contains(reached, id); {
		case is && len(dead) < 3:
			dead[id] = true
			kind(id)
		case !is && others < 60:
			others++
			kind(id)
		}
	}
	g.poll("1.0.0", g.boxes...)
	g.update()
	g.now = g.now.Add(3 * time.Minute)
	for _, id := range g.boxes {
		switch {
		case dead[id]:
		case g.updated[id]:
			g.poll("2.0.0", id)
		default:
			g.poll("1.0.0", id)
		}
	}
	tally := g.tick(time.Second)
	expect.That(t, tally.Acted == 1, "the tick: %+v", tally)
	v := g.verdict()
	expect.Equal(t, v.Action, guard.Halt, "%s: the verdict is", v.Sentence)
	expect.Equal(t, v.Culprit, &guard.Culprit{Name: "revision", Value: "C", Silent: true, Harmed: 3, Boxes: 3, OtherBoxes: 60}, "the culprit is")
	expect.Equal(t, g.rollout().Status, rollout.Halted, "the rollout is")
}

// TestGuard_BoxesOfAKindFallBackAndAreRetired_ItStillHalts: three boxes have hardware revision C, in a factory each. Nobody can
// remove the evidence against the kind.
func TestGuard_BoxesOfAKindFallBackAndAreRetired_ItStillHalts(t *testing.T) {
	g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 100, "acme", "initech")
	g.raise(50)
	bad := g.reached()[:3]
	for i, id := range bad {
		a := edge.Assignment{EdgeType: g.edgeType, Channel: g.channel, OrganizationID: []string{"acme", "initech"}[i%2],
			FactoryID: new(fmt.Sprint("plant-", i)), Attributes: map[string]string{"revision": "C"}}
		expect.Value(g.registry.Put(g.ctx, audit.Origin{}, id, a, input.Preconditions{}))(t)
	}
	g.update()
	g.poll("1.0.0", bad...)
	for _, id := range bad {
		expect.OK(t, g.registry.Retire(g.ctx, audit.Origin{}, id, input.Preconditions{}))
	}
	g.tick(3 * time.Minute)
	v := g.verdict()
	expect.Equal(t, v.Culprit, &guard.Culprit{Name: "revision", Value: "C", Harmed: 3, Boxes: 3, Factories: 3, OtherBoxes: len(g.reached()) - 3}, "the culprit is")
	expect.Equal(t, g.rollout().Status, rollout.Halted, "%s: the rollout is", v.Sentence)
}

// TestSurvey_AnAttributeThatAllBoxesShare_IsNoKind: they are everybody.
func TestSurvey_AnAttributeThatAllBoxesShare_IsNoKind(t *testing.T) {
	c := census.KeepAll(rollout.Rollout{StageStarts: rollout.StageStarts{At1: new(noon)}, Terms: &rollout.Terms{Policy: guard.Default()}}, noon)
	var boxes []census.Surveyed
	for i := range 10 {
		boxes = append(boxes, census.Surveyed{IndexEntry: report.IndexEntry{OrganizationID: "acme", FactoryID: "munich"},
			Attributes: map[string]string{"model": "X", "revision": string("AB"[i%2])}})
	}
	kinds := c.Groups.Kinds(boxes, 0)
	for _, k := range kinds[:2] {
		expect.Equal(t, k.Name, "revision", "a kind is of the attribute")
	}
	expect.Equal(t, kinds[2:], []guard.Kind{{Name: guard.OfAll, Share: guard.Share{}}}, "and all boxes are, none of which was seen")
}
