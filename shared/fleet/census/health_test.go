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
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// TestWorkers_AreTheBoxesOfASurvey, and only what they said lately about the version that they run counts.
func TestWorkers_AreTheBoxesOfASurvey(t *testing.T) {
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
	of.Terms.Policy.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "higher"}}
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
			asked, watched := workers(of, c.said), map[bool]int{}
			for _, w := range asked {
				if w.Watched {
					watched[w.Reached]++
				}
				says := c.others
				if w.Reached {
					says = c.reached
				}
				expect.Must(t, (w.Now != nil) == says && (w.Before != nil) == c.before, "%+v", w)
			}
			if len(asked) != 3000 || watched[false] < 1100 || watched[false] > 1400 || watched[true] < 1400 { // of stages of 1,500 boxes, 1,200 and all
				t.Errorf("%d are asked, %v are watched", len(asked), watched)
			}
		})
	}
}

// TestTick_TheCourseOfHealthNumbers_HasAReadingAnHour, at 64 times at most. A caller who asks for a count adds none.
func TestTick_TheCourseOfHealthNumbers_HasAReadingAnHour(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 2)
	const boxes = 20
	for i := range boxes {
		f.register(t, f.name(i, boxes), f.channel, "munich-1")
	}
	f.later(48 * time.Hour)
	policy := guard.Default()
	policy.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "higher"}, "heat": {Is: "gauge", Worse: "higher"}}
	id, err := f.rollouts.Start(f.ctx, audit.Origin{}, rollout.Plan{EdgeType: f.edgeType, Channel: f.channel, TargetVersion: "2.0.0", Policy: &policy}, idempotency.Claim{})
	expect.OK(t, err)
	for _, stage := range []int{10, 50} {
		f.move(t, id, rollout.Move{StagedPercent: &stage})
	}
	tick := func(minutes int) census.Progress {
		t.Helper()
		f.later(time.Duration(minutes) * time.Minute)
		expect.Value(f.progress.Tick(f.ctx, audit.Origin{}))(t)
		p := expect.Value(f.progress.Rollout(f.ctx, id, false, false))(t)
		return p
	}
	expect.Equal(t, tick(1).Work[0].Control, guard.Saying{Boxes: 10}, "before anybody says something:")
	for i := range boxes {
		box := f.name(i, boxes)
		f.poll(t, box, "1.0.0", "cycle:10")
		if cohort.Of(f.edgeType, "2.0.0", box).In(50) {
			f.poll(t, box, "2.0.0", "cycle:11")
		}
	}
	expect.Equal(t, len(tick(30).Work), 2, "readings in an hour:")
	p := tick(30)
	expect.Equal(t, p.Work[2:], []guard.Reading{
		{Name: "cycle", At: p.AsOf, Reached: guard.Saying{Boxes: 10, Said: 10, Now: 11}, Control: guard.Saying{Boxes: 10, Said: 10, Now: 10}},
		{Name: "heat", At: p.AsOf, Reached: guard.Saying{Boxes: 10}, Control: guard.Saying{Boxes: 10}},
	}, "the readings after an hour:")
	expect.Equal(t, len(f.count(t, id).Work), 4, "readings in a fresh count:")
	for range 80 {
		p = tick(61)
	}
	if n := len(p.Work); n > 2*64 || n < 64 || !p.Work[n-1].At.Equal(p.AsOf) || !p.Work[n-2].At.Equal(p.AsOf) {
		t.Errorf("%d readings after 80 hours, the last of %v at %v", n, p.Work[n-1].At, p.AsOf)
	}
}
