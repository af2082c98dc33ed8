package rollout_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// as returns the origin of another person's call.
func as(user string) audit.Origin {
	o := origin
	o.Actor.UserID = user
	return o
}

func TestGuard_PolicyAndApprovals_ChangeTheRowsCopyTogetherWithTheRollout(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		ctx := admission.Unlimited(t.Context())
		p := policy(10)
		id, err := f.rollouts.Start(ctx, origin, rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: "1.1.0", Policy: &p}, idempotency.Claim{})
		expect.OK(t, err)
		agree := func(revision int64) {
			t.Helper()
			f.carries(t, id)
			r := f.get(t, id)
			expect.Must(t, r.Revision == revision, "the rollout is of revision %d, want %d", r.Revision, revision)
		}
		agree(1)
		p = policy(10, 50)
		expect.OK(t, f.rollouts.SetPolicy(ctx, as("ida"), id, p, input.Preconditions{}))
		agree(2)
		err = f.rollouts.Approve(ctx, as("ida"), id, 10, input.Preconditions{})
		expect.Must(t, problem.Has(err, problem.SelfApproval), "the person who changed the policy approves: %v", err)
		_, err = f.try(t, id, rollout.Move{StagedPercent: new(10)})
		expect.Must(t, problem.Has(err, problem.ApprovalRequired), "not approved: %v", err)
		for range 2 { // the second time changes nothing
			expect.OK(t, f.rollouts.Approve(ctx, as("emil"), id, 10, input.Preconditions{}))
			agree(3)
		}
		f.move(t, id, 10, "")
		agree(4)
		f.move(t, id, 0, rollout.Halted)
		expect.OK(t, f.rollouts.SetPolicy(ctx, as("ida"), id, policy(10, 50, 100), input.Preconditions{}))
		agree(6)
		got := f.get(t, id).Terms.Policy.Promote.Soak
		expect.Must(t, got == policy().Promote.Soak, "the policy came back with the soak %+v", got)
	})
}

// TestSetPolicy_AnotherTimeToDecide_ReachesTheRow: a pair's second box is told by it while the first may still install.
func TestSetPolicy_AnotherTimeToDecide_ReachesTheRow(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		p := policy()
		id, err := f.rollouts.Start(admission.Unlimited(t.Context()), origin, rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: "1.1.0", Policy: &p}, idempotency.Claim{})
		expect.OK(t, err)
		for _, within := range []time.Duration{6 * time.Hour, 8 * time.Hour, time.Hour} {
			p.Guard.DecideWithin = guard.Lasting(within)
			expect.OK(t, f.rollouts.SetPolicy(admission.Unlimited(t.Context()), origin, id, p, input.Preconditions{}))
			f.carries(t, id)
		}
	})
}

// TestFreeze_HoldsUpWhatMovesBoxesOn_UntilItIsLifted runs on its own store, since the freeze applies to all rollouts.
func TestFreeze_HoldsUpWhatMovesBoxesOn_UntilItIsLifted(t *testing.T) {
	onFleet(t, dynamotest.Embedded(t), func(t *testing.T, f *fleet) {
		ctx := admission.Unlimited(t.Context())
		freezes := freeze.NewStore(f.db)
		id := f.start(t, "1.1.0")
		if created, err := freezes.Set(ctx, origin, freeze.Wish{Reason: "holidays", Until: time.Now().Add(time.Hour)}, input.Preconditions{}); err != nil || !created {
			t.Fatalf("created %v, %v", created, err)
		}
		publish := func(from audit.Origin) error {
			_, err := f.publications.Publish(ctx, from, release.Publication{EdgeType: f.edgeType, Channel: "canary", CurrentVersion: "1.2.0",
				ArtifactURL: "https://a.example/1.2.0", SHA256: strings.Repeat("c", 64)}, input.Preconditions{})
			return err
		}
		start := func(from audit.Origin) error {
			_, err := f.rollouts.Start(ctx, from, rollout.Plan{EdgeType: f.edgeType, Channel: "canary", TargetVersion: "1.0.0"}, idempotency.Claim{})
			return err
		}
		move := func(m rollout.Move) func(audit.Origin) error {
			return func(from audit.Origin) error {
				_, err := f.rollouts.Move(ctx, from, id, m, input.Preconditions{})
				return err
			}
		}
		for _, c := range []struct {
			what string
			do   func(audit.Origin) error
		}{{"publish", publish}, {"start", start}, {"promote", move(rollout.Move{StagedPercent: new(10)})}} {
			if err := c.do(origin); !problem.Has(err, problem.Frozen) {
				t.Errorf("%s: %v", c.what, err)
			}
			err := c.do(origin.For(audit.Grounds{OverrideReason: "a security fix"}))
			expect.That(t, err == nil, "%s, with a reason: %v", c.what, err)
		}
		f.move(t, id, 0, rollout.Halted)
		if _, err := f.try(t, id, rollout.Move{Status: rollout.Active}); !problem.Has(err, problem.Frozen) {
			t.Errorf("resume: %v", err)
		}
		expect.OK(t, freezes.Lift(ctx, origin, input.Preconditions{}))
		f.move(t, id, 0, rollout.Active)
		got, err := freezes.Get(ctx)
		expect.That(t, problem.Has(err, problem.NotFound), "after it was lifted there is %+v, %v", got, err)
	})
}

// TestStart_ATargetThatEndedBefore_BeginsWithAdvice: the boxes that it bricked are no longer seen, so the others alone
// would clear it. A publication forgets ended rollouts.
func TestStart_ATargetThatEndedBefore_BeginsWithAdvice(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		f.publish(t, "canary", "1.2.0", "c")
		start := func(target string) rollout.Rollout {
			t.Helper()
			p := policy()
			id, err := f.rollouts.Start(admission.Unlimited(t.Context()), origin, rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: target, Policy: &p}, idempotency.Claim{})
			expect.OK(t, err)
			f.carries(t, id)
			r := f.get(t, id)
			f.move(t, id, 0, rollout.Halted)
			return r
		}
		for i, c := range []struct {
			target string
			mode   guard.Mode
		}{{"1.1.0", guard.Act}, {"1.1.0", guard.Advise}, {"1.2.0", guard.Act}, {"1.1.0", guard.Advise}} {
			if r := start(c.target); r.Terms.Policy.Mode != c.mode || r.Terms.Revision != 1 {
				t.Errorf("start %d, of %s: %s by revision %d", i, c.target, r.Terms.Policy.Mode, r.Terms.Revision)
			}
		}
		f.publish(t, "stable", "1.0.0", "a")
		if r := start("1.1.0"); r.Terms.Policy.Mode != guard.Act {
			t.Errorf("after a publication: %s", r.Terms.Policy.Mode)
		}
	})
}

// TestStart_OfAVersionThatWasHaltedBefore_InheritsItsStageStarts, even if a version was published in between.
func TestStart_OfAVersionThatWasHaltedBefore_InheritsItsStageStarts(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		first := f.start(t, "1.1.0")
		f.move(t, first, 10, "")
		f.move(t, first, 0, rollout.Halted)
		f.publish(t, "canary", "1.2.0", "c")
		f.publish(t, "stable", "1.2.0", "c")
		was, again := f.get(t, first), f.get(t, f.start(t, "1.1.0"))
		for _, percent := range []int{1, 10} {
			want, _ := was.Reached(percent)
			if got, reached := again.Reached(percent); !reached || !got.Equal(want) {
				t.Errorf("reached %d at %v, %t; the first rollout did at %v", percent, got, reached, want)
			}
		}
		if _, reached := again.Reached(50); reached || again.StagedPercent != 1 {
			t.Errorf("it starts at %d and has reached 50: %t", again.StagedPercent, reached)
		}
		f.move(t, again.ID, 0, rollout.Halted)
		f.publish(t, "canary", "1.3.0", "d")
		if other := f.get(t, f.start(t, "1.3.0")); !other.StageStarts.At1.Equal(other.StartedAt) || other.StageStarts.At10 != nil {
			t.Errorf("another version inherits %+v", other.StageStarts)
		}
	})
}
