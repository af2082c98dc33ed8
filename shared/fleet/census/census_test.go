package census_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
	_ "wavegate/shared/testing/raced" // few cases under the race detector
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var raised = rollout.Rollout{ID: "r", EdgeType: "gateway-x", TargetVersion: "2.0.0", StagedPercent: 50}

// A box is the model of one, in plain words: which word of its rollout came last.
type box struct {
	row  report.Row
	told bool   // by the rollout
	last string // the expected count
}

// play applies one event to a box and works out what a census has to count. It repeats report.Next in other words, for
// a single rollout of boxes that ran 1.0.0 before.
func (b *box) play(event string, attempt int) {
	var e report.Input
	running := b.row.Running
	poll := func(runs string) report.Polled {
		p := report.Polled{Told: "1.0.0", Running: runs, At: noon}
		if stage := cohort.FirstStage("gateway-x", "2.0.0", b.row.EdgeID); stage <= raised.StagedPercent {
			p.Told, p.RolloutID, p.Stage = "2.0.0", "r", stage
		}
		return p
	}
	outcome := func(s report.State, c report.FailureCode) report.Outcome {
		return report.Outcome{Version: "2.0.0", Attempt: attempt, State: s, Code: c, At: noon}
	}
	reached := cohort.FirstStage("gateway-x", "2.0.0", b.row.EdgeID) <= raised.StagedPercent
	decided := b.last == "installed" || b.last == "failed" || b.last == "reverted"
	switch event {
	case "polls":
		if running == "" {
			running = "1.0.0"
		}
		e = poll(running)
		if reached && !b.told {
			b.told, b.last = true, "offered"
		}
	case "updates":
		if !b.told {
			return
		}
		e = poll("2.0.0")
		if running != "2.0.0" || !decided {
			b.last = "installed"
		}
	case "falls back":
		if running != "2.0.0" {
			return
		}
		e = poll("1.0.0")
		if b.last == "installed" {
			b.last = "reverted"
		}
	case "works":
		e = outcome(report.Working, "")
		if b.told && !decided {
			b.last = "working"
		}
	case "defers":
		e = outcome(report.Deferred, "")
		if b.told && !decided {
			b.last = "deferred"
		}
	case "fails":
		e = outcome(report.Failed, report.CodeBoot)
		if b.told && b.last != "reverted" && b.last != "installed" { // a box that runs it only reported late
			b.last = "failed"
		}
	}
	b.row, _ = report.Next(b.row, e)
}

// TestCensus_IsTheFoldOfTheEvents plays a fleet, counts it in shards, and compares the counts with the model of each
// box.
func TestCensus_IsTheFoldOfTheEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boxes := make([]box, rapid.IntRange(0, 40).Draw(t, "boxes"))
		factories := []string{"", "munich-1", "oslo-2"}
		for i := range boxes {
			boxes[i].row = report.Row{EdgeID: fmt.Sprintf("box-%04d", i), FactoryID: factories[i%3]}
			if rapid.Bool().Draw(t, "old offer") { // a rollout before this one
				boxes[i].row, _ = report.Next(boxes[i].row, report.Polled{Told: "2.0.0", RolloutID: "before", Stage: 1, Running: "1.0.0", At: noon})
			}
		}
		if len(boxes) > 0 {
			for attempt := range rapid.IntRange(0, 200).Draw(t, "events") {
				event := rapid.SampledFrom([]string{"polls", "polls", "updates", "falls back", "works", "defers", "fails"}).Draw(t, "event")
				boxes[rapid.IntRange(0, len(boxes)-1).Draw(t, "box")].play(event, attempt+1)
			}
		}
		want := census.NewCensus(raised, noon)
		wantFactories := map[string]guard.Counts{}
		parts := make([]*census.Census, 4)
		for i := range parts {
			parts[i] = census.NewCensus(raised, noon)
		}
		for _, b := range boxes {
			stage := cohort.FirstStage("gateway-x", "2.0.0", b.row.EdgeID)
			at := slices.Index(cohort.Stages, stage)
			tally(&want.Stages[at].Counts, b.last, stage <= raised.StagedPercent)
			if stage <= raised.StagedPercent {
				n := wantFactories[b.row.FactoryID]
				tally(&n, b.last, true)
				wantFactories[b.row.FactoryID] = n
			}
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "shard")].Add(b.row.Entry())
		}
		got := census.NewCensus(raised, noon)
		for _, part := range parts {
			got.Merge(part)
		}
		expect.Must(t, slices.Equal(got.Stages, want.Stages), "counted %+v\nwant    %+v", got.Stages, want.Stages)
		expect.Must(t, maps.Equal(got.Factories, wantFactories),
			"by factory %+v\nwant       %+v", got.Factories, wantFactories)
		total := census.Total(got.Stages)
		if total.Expected != len(boxes) || got.Codes[report.CodeBoot] != total.Failed || got.Awaited.Boxes != total.Offered+total.Working+total.Installed {
			t.Fatalf("%d boxes are %+v, failed by %v, awaited %d", len(boxes), total, got.Codes, got.Awaited.Boxes)
		}
	})
}

// tally counts a box by its word.
func tally(n *guard.Counts, word string, reached bool) {
	n.Expected++
	if !reached {
		return
	}
	field, ok := map[string]*int{"": &n.NotYetPolled, "offered": &n.Offered, "working": &n.Working, "deferred": &n.Deferred,
		"installed": &n.Installed, "failed": &n.Failed, "reverted": &n.Reverted}[word]
	if !ok {
		panic("no word " + word)
	}
	*field++
}

func TestCensus_ReachedStage_ExpectsTheSumOfItsBoxes(t *testing.T) {
	c := census.NewCensus(raised, noon)
	for i := range 5000 {
		row := report.Row{EdgeID: fmt.Sprintf("box-%d", i)}
		if i%3 == 0 {
			stage := cohort.FirstStage(raised.EdgeType, raised.TargetVersion, row.EdgeID)
			row, _ = report.Next(row, report.Polled{Told: "2.0.0", RolloutID: "r", Stage: stage, Running: "1.0.0", At: noon})
		}
		c.Add(row.Entry())
	}
	for _, s := range c.Stages[:3] {
		sum := s.NotYetPolled + s.Offered + s.Working + s.Deferred + s.Installed + s.Failed + s.Reverted
		expect.That(t, sum == s.Expected, "at %d percent %d of %d boxes are counted", s.Percent, sum, s.Expected)
		expect.That(t, s.NotYetPolled != 0 && s.Offered != 0, "at %d percent: %+v", s.Percent, s)
	}
	if last := c.Stages[3]; last.NotYetPolled != 0 || last.Expected < 2300 || last.Expected > 2700 {
		t.Errorf("the stage that is not reached: %+v", last)
	}
}

func TestVersions_MostBoxesFirst_AndRareOnesTogether(t *testing.T) {
	var a, b census.Versions
	add := func(v *census.Versions, version string, n int) {
		for range n {
			v.Add(report.IndexEntry{Running: version})
		}
	}
	add(&a, "1.0.0", 5)
	add(&b, "2.0.0", 9)
	add(&b, "", 3)
	for i := range 150 {
		add(&a, fmt.Sprintf("odd-%03d", i), 1)
	}
	a.Merge(b)
	list, others := a.List(nil)
	if len(list) != census.MostVersions || others != 52 || a.Boxes() != 167 || a.Unknown() != 3 {
		t.Errorf("%d versions, %d others, %d boxes, %d unknown", len(list), others, a.Boxes(), a.Unknown())
	}
	if list[0] != (census.VersionCount{Version: "2.0.0", Boxes: 9}) || list[1] != (census.VersionCount{Version: "1.0.0", Boxes: 5}) || list[2].Version != "odd-000" {
		t.Errorf("in the order %v", list[:3])
	}
}
