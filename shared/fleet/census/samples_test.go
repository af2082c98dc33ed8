package census

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

// TestSampleDue_OnceInTenTicks_EachRolloutInItsOwnMinute, and after each change.
func TestSampleDue_OnceInTenTicks_EachRolloutInItsOwnMinute(t *testing.T) {
	settings := Settings{GuardInterval: time.Minute}
	rapid.Check(t, func(t *rapid.T) {
		r := rollout.Rollout{ID: rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "id"), Status: rollout.Active, StagedPercent: 10, Revision: 3}
		at := time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "seconds"), 0)
		last, due := &Progress{AsOf: at, StagedPercent: 10}, 0
		for range 30 {
			at = at.Add(time.Minute)
			if settings.sampleDue(r, last, at) {
				due++
			}
			last = &Progress{AsOf: at, StagedPercent: 10}
		}
		expect.Must(t, due == 3, "%d times in half an hour", due)
		for what, changed := range map[string]*Progress{
			"never counted": nil, "another stage": {AsOf: at, StagedPercent: 1}, "another revision": {AsOf: at, StagedPercent: 10, Guard: &Judgement{Revision: 2}},
		} {
			expect.Must(t, settings.sampleDue(r, changed, at), "%s: not due", what)
		}
	})
	minutes, at := map[int]bool{}, time.Unix(0, 0)
	for i := range 100 {
		r := rollout.Rollout{ID: fmt.Sprintf("%08x", i), Status: rollout.Active, StagedPercent: 10, Revision: 3}
		for minute := range 10 {
			at := at.Add(time.Duration(minute) * time.Minute)
			if settings.sampleDue(r, &Progress{AsOf: at.Add(-time.Minute), StagedPercent: 10}, at) {
				minutes[minute] = true
			}
		}
	}
	expect.That(t, len(minutes) == 10, "rollouts are due in the minutes %v of ten", minutes)
}

// soakedCensus is a census of a stage that has soaked.
func soakedCensus(auto bool) *Census {
	policy := guard.Default()
	policy.Promote.Auto = auto
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := rollout.Rollout{ID: "r-1", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2.0.0", Status: rollout.Active, StagedPercent: 50, Revision: 3,
		StartedAt: now.Add(-30 * 24 * time.Hour), StageSince: now.Add(-20 * 24 * time.Hour), Terms: &rollout.Terms{Policy: policy, Revision: 1}}
	return NewCensus(r, now)
}

// TestReuse_OnlyWhileNothingFollowsFromIt.
func TestReuse_OnlyWhileNothingFollowsFromIt(t *testing.T) {
	taken := &guard.Taken{Boxes: 1000, Good: 1000, Needed: 800}
	surveyed := []guard.Survey{{Percent: 50, Number: 1, At: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)}}
	for i, c := range []struct {
		last *Judgement
		want bool
	}{
		{nil, false}, {&Judgement{Verdict: guard.Verdict{Surveys: surveyed}}, false},
		{&Judgement{Verdict: guard.Verdict{Taken: taken}}, false}, // a survey is due, for which boxes are looked up
		{&Judgement{Verdict: guard.Verdict{Taken: taken, Surveys: surveyed}}, true},
	} {
		q := Ask(soakedCensus(false), c.last, false)
		q.all = false // as in a fleet that is not small
		j := q.reuse(c.last, nil)
		expect.Equal(t, j != nil, c.want, "%s is reused", fmt.Sprint("case ", i))
		if j != nil {
			expect.Equal(t, j.Taken, taken, "what was looked up")
			expect.Equal(t, j.Action, guard.Hold, "the verdict is")
		}
	}
	final := soakedCensus(false)
	final.of.StagedPercent = 100
	q := Ask(final, nil, false)
	q.all = false
	expect.That(t, q.reuse(&Judgement{Verdict: guard.Verdict{Taken: taken, Surveys: surveyed}}, nil) == nil,
		"it is reused at the last stage, where people are paged by it")
}
