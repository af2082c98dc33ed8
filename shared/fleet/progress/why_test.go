package progress_test

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/progress"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo/dynamotest"
	"wavegate/shared/platform/problem"
)

func TestWhy_TheSentenceIsThatOfTheRule(t *testing.T) {
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
	rule := func(box string, want progress.Rule) progress.Why {
		t.Helper()
		why, err := f.progress.Why(f.ctx, box)
		if err != nil || why.Rule != want || why.Sentence == "" {
			t.Errorf("%s: %+v, %v; want the rule %s", box, why, err, want)
		}
		return why
	}
	rule(in, progress.RuleChannel)
	id := f.start(t, 50)
	rule(in, progress.RuleRollout)
	if why := rule(out, progress.RuleNotReached); why.Rollout.ReachedAt != 100 || why.Rollout.Percentile < 50 {
		t.Errorf("not reached: %+v", why.Rollout)
	}
	f.poll(t, in, "1.0.0")
	f.fails(t, in)
	why := rule(in, progress.RuleRollout)
	if why.Report.Stand != report.Failed || why.Report.Code != report.CodeBoot || why.LastSeenAt == nil || f.now.Sub(*why.LastSeenAt) >= 500*time.Millisecond || why.Running != "1.0.0" {
		t.Errorf("failed: %+v, %+v", why, why.Report)
	}
	f.poll(t, in, "2.0.0")
	f.move(t, id, rollout.Move{Status: rollout.Halted})
	rule(in, progress.RuleKept)
	if why := rule(out, progress.RuleEnded); why.Rollout.Status != rollout.Halted {
		t.Errorf("ended: %+v", why.Rollout)
	}
	f.register(t, out, "nothing", "")
	rule(out, progress.RuleNothing)
	if _, err := f.progress.Why(f.ctx, "nobody"); !problem.Has(err, problem.NotFound) {
		t.Errorf("of no box: %v", err)
	}
}
