package rollout_test

import (
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestAfter_AStoppedRollout_GoesOnIfAPersonSaysSo(t *testing.T) {
	stop := rollout.Move{Stop: guard.OneOrganization, Judged: judged(10, policy()).Terms.Revision}
	stopped, event, err := judged(10, policy()).After(stop, rollout.Moment{By: rollout.Guard, At: start})
	if err != nil || event != "RolloutTellingStopped" || !stopped.Stopped() || stopped.Status != rollout.Active || stopped.Revision != 6 {
		t.Fatalf("%q, %v: %+v", event, err, stopped)
	}
	later := start.Add(time.Hour)
	for name, c := range map[string]struct {
		move    rollout.Move
		event   string
		stopped bool
		without []string
	}{
		"again":                           {stop, "", true, nil},
		"it goes on":                      {rollout.Move{Status: rollout.Active}, "RolloutResumed", false, nil},
		"it goes on without two":          {rollout.Move{Status: rollout.Active, Without: []string{"initech", "acme", "acme"}}, "RolloutResumed", false, []string{"acme", "initech"}},
		"it is raised":                    {rollout.Move{StagedPercent: new(50)}, "RolloutPromoted", false, nil},
		"it is halted, and stays stopped": {rollout.Move{Status: rollout.Halted}, "RolloutHalted", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			next, event, err := stopped.After(c.move, rollout.Moment{By: olga, At: later})
			if err != nil || event != c.event || next.Stopped() != c.stopped || !slices.Equal(next.Without, c.without) {
				t.Fatalf("%q, %v: %+v", event, err, next)
			}
			if goesOn := event != "" && !c.stopped; goesOn != (next.ResumedAt != nil) || goesOn && next.Terms.Policy.Mode != guard.Act {
				t.Errorf("resumed at %v, the guard is to %s", next.ResumedAt, next.Terms.Policy.Mode)
			}
		})
	}
	frozen := &freeze.Freeze{Until: later.Add(time.Hour)}
	_, _, err = stopped.After(rollout.Move{Status: rollout.Active}, rollout.Moment{By: olga, At: later, Freeze: frozen})
	expect.That(t, problem.Has(err, problem.Frozen), "during a freeze: %v", err)
	if _, _, err := stopped.After(rollout.Move{Stop: guard.OneOrganization, Judged: 7}, rollout.Moment{By: rollout.Guard, At: later}); !problem.Has(err, problem.PreconditionFailed) {
		t.Errorf("by another policy: %v", err)
	}
}

func TestAfter_TheOrganizationsLeftOut_CanChange(t *testing.T) {
	r := judged(10, policy())
	for i, ids := range [][]string{{"acme"}, {"acme", "initech"}, {}} {
		next, event, err := r.After(rollout.Move{Status: rollout.Active, Without: ids}, rollout.Moment{By: olga, At: start.Add(time.Duration(i) * time.Minute)})
		if err != nil || event != "RolloutResumed" || !slices.Equal(next.Without, ids) || next.Revision != r.Revision+1 {
			t.Fatalf("%q, %v: %+v", event, err, next)
		}
		again, event, err := next.After(rollout.Move{Status: rollout.Active, Without: ids}, rollout.Moment{By: olga, At: start.Add(time.Hour)})
		expect.That(t, err == nil && event == "" && again.Revision == next.Revision, "the same again: %q, %v", event, err)
		r = next
	}
}

// TestAfter_TheGuardsPromotions_BringNewBoxesALittleLater: people's do not, unless the guard's did before.
func TestAfter_TheGuardsPromotions_BringNewBoxesALittleLater(t *testing.T) {
	at := func(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }
	by := func(r rollout.Rollout, m rollout.Move, hours int) rollout.Rollout {
		t.Helper()
		next, event, err := r.After(m, rollout.Moment{By: rollout.Guard, At: at(hours)})
		expect.Must(t, err == nil && event != "", "%+v: %q, %v", m, event, err)
		return next
	}
	people := by(judged(10, policy()), rollout.Move{StagedPercent: new(50)}, 1)
	expect.That(t, people.YoungAt == nil, "people promoted, and new boxes come later: %v", people.YoungAt)
	r := by(judged(10, policy()), rollout.Move{StagedPercent: new(50), Young: true}, 1)
	r = by(r, rollout.Move{StagedPercent: new(100)}, 2)
	r = by(r, rollout.Move{Young: true}, 3)
	expect.Equal(t, r.YoungAt, []time.Time{at(1), at(1), at(2), at(3)}, "they come further, from what the promotion to 10 percent had reached")
	expect.That(t, r.StagedPercent == 100 && r.StageSince.Equal(at(2)), "at %d since %v", r.StagedPercent, r.StageSince)
	stopped := by(r, rollout.Move{YoungStop: []string{"acme"}, Judged: r.Terms.Revision}, 4)
	stopped = by(stopped, rollout.Move{YoungStop: []string{"initech", "acme"}, Judged: r.Terms.Revision}, 5)
	expect.Equal(t, stopped.YoungStopped, []string{"acme", "initech"}, "they are stopped of")
	expect.That(t, !stopped.Stopped() && stopped.Status == rollout.Active, "others are told")
	resumed := by(stopped, rollout.Move{Status: rollout.Active}, 6)
	expect.That(t, resumed.YoungStopped == nil && len(resumed.YoungAt) == 4 && resumed.ResumedAt.Equal(at(6)), "resumed: %+v", resumed.Young)
	_, _, err := r.After(rollout.Move{Young: true}, rollout.Moment{By: rollout.Guard, At: at(4), Freeze: &freeze.Freeze{Until: at(9)}})
	expect.That(t, problem.Has(err, problem.Frozen), "during a freeze: %v", err)
}
