package census_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

func TestWhy_TheReasonIsThatOfTheRule(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 1)
	var in, out string // of the first half for 2.0.0
	for i := 0; in == "" || out == ""; i++ {
		box := fmt.Sprintf("box-%d", i)
		if cohort.FirstStage(f.edgeType, "2.0.0", box) == 100 {
			out = box
		} else if cohort.FirstStage(f.edgeType, "2.0.0", box) == 50 {
			in = box
		}
	}
	for _, box := range []string{in, out} {
		f.register(t, box, f.channel, "")
		f.poll(t, box, "1.0.0")
	}
	rule := func(box string, want decide.Reason) census.Why {
		t.Helper()
		why, err := f.progress.Why(f.ctx, owner, box)
		expect.That(t, err == nil && why.Reason == want && why.Sentence != "",
			"%s: %+v, %v; want the reason %s", box, why, err, want)
		return why
	}
	rule(in, decide.Channel)
	id := f.start(t, 50)
	rule(in, decide.Rollout)
	if why := rule(out, decide.NotReached); why.Rollout.ReachedAt != 100 || why.Rollout.Percentile < 50 {
		t.Errorf("not reached: %+v", why.Rollout)
	}
	f.poll(t, in, "1.0.0")
	f.fails(t, in)
	why := rule(in, decide.Rollout)
	if why.Report.State != report.Failed || why.Report.Code != report.CodeBoot || why.LastSeenAt == nil || f.now.Sub(*why.LastSeenAt) >= 500*time.Millisecond || why.Running != "1.0.0" {
		t.Errorf("failed: %+v, %+v", why, why.Report)
	}
	f.poll(t, in, "2.0.0")
	f.move(t, id, rollout.Move{Status: rollout.Halted})
	rule(in, decide.Installed)
	if why := rule(out, decide.RolloutEnded); why.Rollout.Status != rollout.Halted {
		t.Errorf("ended: %+v", why.Rollout)
	}
	f.register(t, out, "nothing", "")
	rule(out, decide.NothingPublished)
	_, err := f.progress.Why(f.ctx, owner, "nobody")
	expect.That(t, problem.Has(err, problem.NotFound), "of a missing box: %v", err)
}

// TestWhy_BoxWithADDIClient_IsToldNothingNewOfABareRelease: the release has neither size nor SHA-1. The box is told it
// once they are published, and nothing if its channel has no release.
func TestWhy_BoxWithADDIClient_IsToldNothingNewOfABareRelease(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 1)
	f.register(t, "box-1", f.channel, "")
	e := expect.Value(edge.NewStore(f.db).Get(f.ctx, "box-1"))(t)
	why := func(want decide.Reason, version string, source decide.Source) census.Why {
		t.Helper()
		why, err := f.progress.Why(f.ctx, owner, "box-1")
		expect.That(t, err == nil && why.Reason == want && why.Version == version && why.Source == source,
			"%+v, %v; want the reason %s, version %q and source %q", why, err, want, version, source)
		return why
	}
	reports := report.NewStore(f.db, 1)
	for _, event := range []report.Input{ddi.Contact{At: f.now}, ddi.Statement{Running: "0.9.0", At: f.now}} {
		expect.Value(reports.Observe(f.ctx, e.Registration(), event))(t)
	}
	known := why(decide.Undescribed, "0.9.0", "")
	expect.That(t, strings.Contains(known.Sentence, "1.0.0"), "the release is not named: %s", known.Sentence)
	if _, err := f.publications.Publish(f.ctx, audit.Origin{}, release.Publication{EdgeType: f.edgeType, Channel: f.channel, CurrentVersion: "1.0.0",
		ArtifactURL: "https://a.example/1.0.0", SHA256: "1.0.0", Details: release.Details{SizeBytes: 1, SHA1: "s"}}, input.Preconditions{}); err != nil {
		t.Fatal(err)
	}
	why(decide.Channel, "1.0.0", decide.FromChannel)
	f.register(t, "box-1", "nothing", "")
	why(decide.NothingPublished, "", "")
}
