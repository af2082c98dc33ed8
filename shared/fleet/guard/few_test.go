package guard_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/testing/expect"
)

// smallFleet is a fleet of so many boxes at a stage, told or not, and what the guard saw of them.
func smallFleet(boxes, stage int, f guard.Few) guard.Evidence {
	e := guard.Evidence{
		Active: true, Stage: stage, Since: now.Add(-48 * time.Hour), AsOf: now, CountedAt: stage,
		Stages: []guard.StageBoxes{{Percent: 1}, {Percent: 10}, {Percent: 50, Counts: guard.Counts{Expected: boxes / 2}}, {Percent: 100, Counts: guard.Counts{Expected: boxes - boxes/2}}},
		Taken:  &guard.Taken{Boxes: boxes / 2, Good: boxes / 2, Needed: boxes / 2, All: true},
	}
	for i, b := range e.Stages {
		if b.Percent <= stage {
			e.Stages[i].Start, e.Stages[i].Installed = e.Since, b.Expected
		}
	}
	f.At = now
	e.Few = &f
	return e
}

func TestDecide_AFleetOfFewerThan40(t *testing.T) {
	harmed := guard.Few{Told: 10, Harmed: 3, Factories: 2, Untold: 3}
	with := func(change func(*guard.Few)) guard.Few {
		f := harmed
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		boxes, stage int
		few          guard.Few
		mode         guard.SmallFleet
		want         string
		stops, pages bool
	}{
		"three harmed":               {boxes: 20, stage: 50, few: harmed, want: "halt FEW_BAD"},
		"two harmed":                 {boxes: 20, stage: 50, few: with(func(f *guard.Few) { f.Harmed = 2 }), want: "hold PEOPLE_PROMOTE"},
		"in one factory":             {boxes: 20, stage: 50, few: with(func(f *guard.Few) { f.Factories = 1 }), want: "hold EVIDENCE_TOO_SMALL", stops: true},
		"in one factory that works":  {boxes: 20, stage: 50, few: with(func(f *guard.Few) { f.Factories, f.Beside = 1, true }), want: "halt FEW_BAD"},
		"two others call":            {boxes: 20, stage: 50, few: with(func(f *guard.Few) { f.Untold = 2 }), want: "hold EVIDENCE_TOO_SMALL", stops: true},
		"others are silent, too":     {boxes: 20, stage: 50, few: with(func(f *guard.Few) { f.Quiet = 2 }), want: "hold PEOPLE_PROMOTE"},
		"others are, but they fail":  {boxes: 20, stage: 50, few: with(func(f *guard.Few) { f.Quiet, f.Bad = 2, 3 }), want: "halt FEW_BAD"},
		"others contradict":          {boxes: 39, stage: 50, few: with(func(f *guard.Few) { f.Only = "acme" }), want: "hold EVIDENCE_TOO_SMALL", stops: true},
		"everybody has it":           {boxes: 20, stage: 100, few: harmed, want: "hold EVIDENCE_TOO_SMALL", stops: true, pages: true},
		"40 boxes":                   {boxes: 40, stage: 50, few: harmed, want: "promote CLEAR"},
		"all live on":                {boxes: 39, stage: 50, want: "hold PEOPLE_PROMOTE"},
		"all live on, and no people": {boxes: 39, stage: 50, mode: guard.AllDecided, want: "promote CLEAR"},
		"no box at the stage":        {boxes: 20, stage: 1, want: "promote CLEAR"},
		"no box at all":              {stage: 1, want: "hold EVIDENCE_TOO_SMALL"},
	} {
		t.Run(name, func(t *testing.T) {
			p, e := guard.Default(), smallFleet(c.boxes, c.stage, c.few)
			p.Promote.Auto = true
			if p.Promote.Soak.At10 = p.Promote.Soak.At1; c.mode != "" {
				p.Guard.SmallFleet = c.mode
			}
			if e.Surveys = []guard.Survey{{Percent: c.stage, Number: 1, At: now}}; c.stage == 1 {
				e.Vacant, e.Since, e.Taken, e.Surveys = true, now, nil, nil
			}
			v := guard.Decide(p, e, now)
			expect.Equal(t, string(v.Action)+" "+string(v.Reason), c.want, "%s", v.Sentence)
			expect.Equal(t, []bool{v.Stops, v.Pages}, []bool{c.stops, c.pages}, "it stops telling, and pages people:")
		})
	}
}

func TestDecide_AFewKnownAtAResumption_DoNotHaltAgain(t *testing.T) {
	e := smallFleet(20, 50, guard.Few{Told: 10, Harmed: 5, Factories: 3, Untold: 9})
	e.Resumed = now
	v := guard.Decide(guard.Default(), e, now)
	expect.Equal(t, v.Action, guard.Hold, "%s", v.Sentence)
}

func TestPolled_BoxesThatPollRarely_AreSilentOnceTheyMissedAPoll(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{time.Minute: 30 * time.Minute, time.Hour: 2 * time.Hour, 12 * time.Hour: 24 * time.Hour} {
		expect.Equal(t, guard.Default().Polled(every).Guard.SilentAfter.Length(), want, "every %s:", every)
	}
	p := guard.Default()
	p.Guard.SilentAfter = guard.Lasting(3 * time.Hour)
	expect.Equal(t, p.Polled(time.Hour).Guard.SilentAfter.Length(), 3*time.Hour, "more by the policy:")
}

func TestRestsOn_AHaltRestsOnOneOrganization_IfTheOthersContradictIt(t *testing.T) {
	for name, c := range map[string]struct {
		harmed, told             int
		othersHarmed, othersTold int
		rests                    bool
	}{
		"only its boxes are harmed":                {3, 3, 0, 24, true},
		"only its boxes, and the others are few":   {3, 3, 0, 19, false},
		"one of the others, too":                   {3, 3, 1, 24, true},
		"one of the others, which chance explains": {3, 12, 1, 24, false},
		"three of the others, too":                 {3, 3, 3, 24, false},
		"only the others":                          {0, 3, 3, 24, false},
	} {
		others := guard.Few{Told: c.othersTold, Harmed: c.othersHarmed, Bad: c.othersHarmed, Factories: c.othersHarmed, Untold: 9}
		all := others
		all.Told, all.Harmed, all.Bad, all.Factories = all.Told+c.told, all.Harmed+c.harmed, all.Bad+c.harmed, all.Factories+c.harmed
		expect.Equal(t, all.RestsOn(others), c.rests, "%s: it rests on it:", name)
	}
}
