package census

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

// onEveryBox is a rollout at 100 percent that started a while ago.
func onEveryBox(at time.Time) rollout.Rollout {
	policy, start := guard.Default(), at.Add(-2*time.Hour)
	return rollout.Rollout{ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2", StagedPercent: 100, Status: rollout.Active,
		StartedAt: start, StageSince: start, StageStarts: rollout.StageStarts{At1: &start, At10: &start, At50: &start, At100: &start},
		Terms: &rollout.Terms{Policy: policy}}
}

func boxAt(id string, state report.State, code report.FailureCode, since time.Time) report.IndexEntry {
	return report.IndexEntry{EdgeID: id, RolloutID: "r", Version: "2", State: state, Code: code, Since: since, Hash: id,
		Stage: cohort.FirstStage("gateway-x", "2", id), OrganizationID: "acme"}
}

func TestAdd_ABoxThatLeftATrace_CountsOnce_AndStaysBad(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	long := now.Add(-90 * time.Minute)
	failed, installed, offered := boxAt("a", report.Failed, report.CodeBoot, long), boxAt("a", report.Installed, "", long), boxAt("a", report.Offered, "", long)
	untold := report.IndexEntry{EdgeID: "a", Hash: "a"}
	trace := func(e report.IndexEntry) report.IndexEntry { e.Trace = true; return e }
	for name, c := range map[string]struct {
		entries   []report.IndexEntry
		told, bad int
	}{
		"it failed and is gone":                       {[]report.IndexEntry{trace(failed)}, 1, 1},
		"it was well and is gone":                     {[]report.IndexEntry{trace(installed)}, 1, 0},
		"it failed, came back, and is well":           {[]report.IndexEntry{trace(failed), installed}, 1, 1},
		"it failed, came back, and is not told again": {[]report.IndexEntry{trace(failed), untold}, 1, 1},
		"it was told, came back, and fails":           {[]report.IndexEntry{trace(offered), failed}, 1, 1},
		"it left twice, and failed once":              {[]report.IndexEntry{trace(failed), trace(offered)}, 1, 1},
		"it left twice, and failed the second time":   {[]report.IndexEntry{trace(offered), trace(failed)}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			part, sum := NewCensus(onEveryBox(now), now), NewCensus(onEveryBox(now), now)
			for _, e := range c.entries {
				part.Add(e)
			}
			sum.Merge(part)
			e := Ask(sum, nil, true).evidence()
			told, bad := 0, 0
			for _, s := range e.Stages {
				told, bad = told+s.Expected, bad+s.Bad
			}
			expect.That(t, told == c.told && bad == c.bad && Total(sum.Stages).Expected == c.told,
				"%d told, %d bad, want %d and %d", told, bad, c.told, c.bad)
		})
	}
}

func TestAdd_ATraceOfAnotherRollout_IsNoBox(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c, versions := NewCensus(onEveryBox(now), now), Versions{}
	e := boxAt("a", report.Failed, report.CodeBoot, now)
	e.RolloutID, e.Trace = "earlier", true
	c.Add(e)
	c.settle()
	versions.Add(e)
	if Total(c.Stages).Expected != 0 || versions.Boxes() != 0 {
		t.Errorf("counts %+v and %d", Total(c.Stages), versions.Boxes())
	}
}

// TestAdd_BoxesRegisteredAfterTheStart_AreNoEvidence: 40 made-up boxes that fail beside 100 good ones.
func TestAdd_BoxesRegisteredAfterTheStart_AreNoEvidence(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	start := onEveryBox(now).StartedAt
	for name, c := range map[string]struct {
		others     time.Time // when the others were registered
		bad, young int
		fresh      bool
	}{
		"an old fleet without dates":         {time.Time{}, 0, 40, false},
		"registered a day before the start":  {start.Add(-24 * time.Hour), 0, 40, false},
		"a new fleet":                        {start.Add(-time.Hour), 40, 40, true},
		"a fleet that came with the made-up": {start.Add(time.Minute), 40, 140, true},
	} {
		t.Run(name, func(t *testing.T) {
			sum := NewCensus(onEveryBox(now), now)
			for i := range 140 {
				part := NewCensus(onEveryBox(now), now)
				e := boxAt(fmt.Sprint("box-", i), report.Installed, "", now.Add(-90*time.Minute))
				if e.RegisteredAt = c.others; i < 40 {
					e.State, e.Code, e.RegisteredAt = report.Failed, report.CodeBoot, start.Add(time.Minute)
				}
				part.Add(e)
				sum.Merge(part)
			}
			if sum.Young != c.young || sum.NewFleet() != c.fresh || Total(sum.Stages).Expected != 140 {
				t.Errorf("%d young, new fleet: %t, %d in all", sum.Young, sum.NewFleet(), Total(sum.Stages).Expected)
			}
			bad := 0
			for _, s := range Ask(sum, nil, true).evidence().Stages {
				bad += s.Bad
			}
			expect.That(t, bad == c.bad, "%d bad, want %d", bad, c.bad)
		})
	}
}

func TestAdd_ARolloutThatWasReturned_CountsWhoIsOnTheWayBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	of := onEveryBox(now)
	of.ReturnedAt = &now
	c := NewCensus(of, now)
	running := func(id, version string) report.IndexEntry {
		e := boxAt(id, report.Installed, "", now)
		e.Running = version
		return e
	}
	back := func(id, version string) report.IndexEntry {
		return report.IndexEntry{EdgeID: id, Hash: id, Running: version}
	}
	trace := func(id string) report.IndexEntry { e := running(id, "2"); e.Trace = true; return e }
	held := running("held", "2")
	held.AsideSince = now.Add(-time.Hour)
	for _, e := range []report.IndexEntry{trace("told back"), trace("back"), running("not heard", "2"), back("told back", "2"), back("back", "1"),
		held, running("fell back", "1"), back("never told", "1")} {
		c.Add(e)
	}
	c.settle()
	if c.Returning != 2 || c.Returned != 1 || c.Held != 1 || Total(c.Stages).Installed != 5 {
		t.Errorf("%d returning, %d returned, %d held, %+v", c.Returning, c.Returned, c.Held, Total(c.Stages))
	}
}
