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
