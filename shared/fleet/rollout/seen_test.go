package rollout_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestAfter_AMark_CountsUntilTheTroubleChanges(t *testing.T) {
	at := start
	after := func(t *testing.T, r rollout.Rollout, m rollout.Move) (rollout.Rollout, string) {
		t.Helper()
		at = at.Add(time.Minute)
		next, event, err := r.After(m, rollout.Moment{By: olga, At: at})
		expect.OK(t, err)
		return next, event
	}
	active := judged(10, policy())
	stopped, _ := after(t, active, rollout.Move{Stop: guard.FactoryBad, Judged: active.Terms.Revision})
	halted, _ := after(t, active, rollout.Move{Status: rollout.Halted})
	for name, c := range map[string]struct {
		was  rollout.Rollout
		move rollout.Move
		kept bool
	}{
		"a halted one is resumed":         {halted, rollout.Move{Status: rollout.Active}, false},
		"a halted one is returned":        {halted, rollout.Move{Status: rollout.Halted, Return: true}, true},
		"a halted one is completed":       {halted, rollout.Move{Status: rollout.Completed}, false},
		"one that is held goes on":        {stopped, rollout.Move{Status: rollout.Active}, false},
		"one that is held is promoted":    {stopped, rollout.Move{StagedPercent: new(50)}, false},
		"one that is held is halted":      {stopped, rollout.Move{Status: rollout.Halted}, false},
		"one that is held becomes urgent": {stopped, rollout.Move{Urgent: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			seen, event := after(t, c.was, rollout.Move{Seen: true})
			expect.Equal(t, event, "RolloutSeen", "event")
			if !seen.Marked() || *seen.Seen != (rollout.Mark{By: olga, At: at}) || seen.Revision != c.was.Revision+1 {
				t.Errorf("%+v", seen)
			}
			again, event := after(t, seen, rollout.Move{Seen: true})
			expect.Equal(t, event, "", "the event of a second mark")
			expect.Equal(t, again.Seen, seen.Seen, "the first mark")
			next, _ := after(t, seen, c.move)
			expect.Equal(t, next.Seen != nil, c.kept, "kept")
			expect.Equal(t, next.Marked(), c.kept, "still marked")
		})
	}
	for _, r := range []rollout.Rollout{active, {Status: rollout.Completed}} {
		if _, _, err := r.After(rollout.Move{Seen: true}, rollout.Moment{By: olga, At: at}); !problem.Has(err, problem.InvalidStateTransition) {
			t.Errorf("%s: %v", r.Status, err)
		}
	}
}

// TestMove_ToUrgent_WhereStagesNeedApprovals_TakesSomebodyElse, and the refusal has a code that the contract of moves has.
func TestMove_ToUrgent_WhereStagesNeedApprovals_TakesSomebodyElse(t *testing.T) {
	was, urgent := judged(1, policy(10)), rollout.Move{Urgent: true}
	_, event, err := was.After(urgent, rollout.Moment{At: start, By: otto})
	expect.That(t, problem.Has(err, problem.Forbidden) && event == "", "who started it: %q, %v", event, err)
	next, event, err := was.After(urgent, rollout.Moment{At: start, By: olga})
	expect.That(t, err == nil && event == "RolloutHastened" && next.Urgent, "somebody else: %q, %v", event, err)
}
