package census_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/trail/audit"
)

// TestGuard_RolloutChangesWhileItIsHalted_IsHaltedUnlessThePolicyChanged makes a change just before the halt is written.
func TestGuard_RolloutChangesWhileItIsHalted_IsHaltedUnlessThePolicyChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(g *judgedFleet) error
		want   rollout.Status
	}{
		"an approval": {func(g *judgedFleet) error {
			anna := audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "anna"}}
			return g.rollouts.Approve(g.ctx, anna, g.id, 100, input.Preconditions{})
		}, rollout.Halted},
		"somebody chooses advise": {func(g *judgedFleet) error {
			p := quick()
			p.Mode, p.Approvals.Before = guard.Advise, []int{100}
			return g.rollouts.SetPolicy(g.ctx, audit.Origin{}, g.id, p, input.Preconditions{})
		}, rollout.Active},
		"somebody completes it": {func(g *judgedFleet) error {
			_, err := g.rollouts.Move(g.ctx, audit.Origin{}, g.id, rollout.Move{Status: rollout.Completed}, input.Preconditions{})
			return err
		}, rollout.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			p := quick()
			p.Approvals.Before = []int{100}
			g := newJudgedFleet(t, dynamotest.Embedded(t), p, 60, "acme", "initech")
			g.raise(50)
			g.poll("1.0.0", g.boxes...)
			for _, id := range g.reached()[:20] { // of 30
				g.fails(t, id)
			}
			g.now = g.now.Add(2 * time.Minute) // they have had time to try again
			changed := false
			g.api.refuse = func() error {
				g.api.refuse = nil
				changed = true
				return c.change(g)
			}
			g.tick(3 * time.Minute) // longer than a box may take to decide
			if r := g.rollout(); !changed || r.Status != c.want {
				t.Errorf("changed %v; the rollout is %s: %s", changed, r.Status, g.verdict().Sentence)
			}
		})
	}
}

func TestMoveCause_TellsTheGuardsSentenceToTheEventBus(t *testing.T) {
	const sentence = "Halt: 17 of 291 boxes are bad."
	cause := census.MoveCause{Judgement: census.Judgement{Verdict: guard.Verdict{Sentence: sentence}}}
	if got := audit.Why(audit.Platform, audit.Grounds{Cause: cause}); got != sentence {
		t.Errorf("the sentence is %q", got)
	}
}
