package rollout_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/idempotency"
)

var goBack = rollout.Move{Status: rollout.Halted, Return: true}

// remembers reports whether boxes of stable that run a version keep it.
func (f *fleet) remembers(t *testing.T, version string) bool {
	t.Helper()
	return f.row(t).Remembers(version)
}

func TestReturn_ARollout_IsForgottenByItsChannel(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, f *fleet, id string){
		"active": func(*testing.T, *fleet, string) {},
		"halted": func(t *testing.T, f *fleet, id string) { f.move(t, id, 0, rollout.Halted) },
		"completed at 10 percent": func(t *testing.T, f *fleet, id string) {
			f.move(t, id, 10, "")
			f.move(t, id, 0, rollout.Completed)
		},
		"halted, and another one runs": func(t *testing.T, f *fleet, id string) {
			f.move(t, id, 0, rollout.Halted)
			f.start(t, "1.2.0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachFleet(t, func(t *testing.T, f *fleet) {
				f.publish(t, "canary", "1.2.0", "c")
				id := f.start(t, "1.1.0")
				before(t, f, id)
				row := f.row(t)
				expect.Equal(t, f.remembers(t, "1.1.0"), true, "before, boxes keep the target")
				r, err := f.try(t, id, goBack)
				expect.OK(t, err)
				now := f.row(t)
				expect.Equal(t, r.Status, rollout.Halted, "status")
				expect.Equal(t, r.ReturnedAt != nil && now.Revision == row.Revision+1, true, "the rollout and its channel say so")
				expect.Equal(t, f.remembers(t, "1.1.0"), false, "boxes keep the target")
				expect.Equal(t, now.ReturnedBy("1.1.0"), id, "the rollout that was returned")
				expect.Equal(t, now.Knows("1.1.0"), true, "the row explains the version")
				expect.Equal(t, now.PublishedAt, row.PublishedAt, "a return publishes nothing")
				again := expect.Value(f.try(t, id, goBack))(t)
				expect.Equal(t, again.Revision, r.Revision, "repeating it changes nothing")
				f.move(t, id, 0, rollout.Completed) // only notes the status
				expect.Value(f.try(t, id, goBack))(t)
				expect.Equal(t, f.row(t).Revision, now.Revision, "the channel, after another return")
				_, err = f.try(t, id, rollout.Move{Status: rollout.Active})
				expect.Equal(t, problem.Has(err, problem.InvalidStateTransition), true, "a resumption is refused: %v", err)
			})
		})
	}
}

func TestReturn_WhereNoBoxIsToldTheTarget_IsRefused(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, f *fleet, id string){
		"published":     func(t *testing.T, f *fleet, _ string) { f.publish(t, "stable", "1.0.0", "a") },
		"brought again": func(t *testing.T, f *fleet, id string) { f.move(t, id, 0, rollout.Halted); f.start(t, "1.1.0") },
		"another adopted": func(t *testing.T, f *fleet, id string) {
			f.move(t, id, 0, rollout.Halted)
			f.adopt(t, f.start(t, "1.2.0"))
		},
		"adopted": func(t *testing.T, f *fleet, id string) { f.adopt(t, id) },
	} {
		t.Run(name, func(t *testing.T) {
			eachFleet(t, func(t *testing.T, f *fleet) {
				f.publish(t, "canary", "1.2.0", "c")
				id := f.start(t, "1.1.0")
				before(t, f, id)
				row, was := f.row(t), f.get(t, id)
				_, err := f.try(t, id, goBack)
				expect.Equal(t, problem.Has(err, problem.InvalidStateTransition), true, "the refusal: %v", err)
				expect.Equal(t, f.row(t).ETag(), row.ETag(), "the channel")
				expect.Equal(t, f.get(t, id).Revision, was.Revision, "the rollout")
			})
		})
	}
}

func (f *fleet) adopt(t *testing.T, id string) {
	t.Helper()
	f.move(t, id, 10, "")
	f.move(t, id, 50, "")
	f.move(t, id, 100, rollout.Completed)
}

func TestReturn_ThenTheSameVersionStarts_ItsBoxesKeepIt(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		_, err := f.try(t, f.start(t, "1.1.0"), goBack)
		expect.OK(t, err)
		p := guard.Default()
		id, err := f.rollouts.Start(admission.Unlimited(t.Context()), origin, rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: "1.1.0", Policy: &p}, idempotency.Claim{})
		expect.OK(t, err)
		expect.Equal(t, f.get(t, id).Mode(), guard.Advise, "the guard, while boxes may still run it")
		f.move(t, id, 0, rollout.Halted)
		expect.Equal(t, f.remembers(t, "1.1.0"), true, "the later rollout's target is remembered")
		expect.Equal(t, len(f.row(t).Returned), 0, "returns in the row")
	})
}

// TestReturn_UrgentAfterAnother_IsUrgent: whoever asks for an urgent return gets one, whatever was asked before.
func TestReturn_UrgentAfterAnother_IsUrgent(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		id := f.start(t, "1.1.0")
		expect.Value(f.try(t, id, goBack))(t)
		expect.Equal(t, f.row(t).ReturnedUrgently(id), false, "the first return is urgent")
		urgent := goBack
		urgent.Urgent = true
		for range 2 {
			r := expect.Value(f.try(t, id, urgent))(t)
			expect.Equal(t, r.Urgent && f.row(t).ReturnedUrgently(id), true, "the second return is urgent")
		}
		expect.Equal(t, len(f.row(t).Returned), 1, "returns in the row")
	})
}

func TestPolicy_OnHaltAndNumbers_AreKeptWithIt(t *testing.T) {
	p := guard.Default()
	p.OnHalt = guard.Return
	r := rollout.Start("r", release.Channel{}, release.Release{}, &p, origin.Actor.Person(), time.Now())
	expect.Equal(t, r.Terms.Policy.OnHalt, guard.Return, "of the rollout")
	expect.Equal(t, string(r.Terms.Policy.JSON()), string(p.JSON()), "the policy as it is shown")
	same, event, err := r.WithPolicy(p, origin.Actor.Person(), time.Now())
	expect.OK(t, err)
	expect.Equal(t, event, "", "the same policy")
	p.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "higher", By: 0.01}}
	asks, event, err := same.WithPolicy(p, origin.Actor.Person(), time.Now())
	expect.OK(t, err)
	expect.Equal(t, fmt.Sprint(event, asks.Carried().Asks), "RolloutPolicyChanged[cycle]", "a number")
	expect.Equal(t, string(asks.Terms.Policy.JSON()), string(p.JSON()), "the policy with a number")
	expect.Equal(t, asks.Carried().DecideWithin, 0, "the usual time to decide")
	p.Guard.DecideWithin = guard.Lasting(6 * time.Hour)
	slow, _, err := asks.WithPolicy(p, origin.Actor.Person(), time.Now())
	expect.OK(t, err)
	expect.Equal(t, slow.Carried().DecideWithin, 21600, "the seconds of a longer time to decide")
	asks.Status = rollout.Halted
	expect.Equal(t, len(asks.Carried().Asks), 0, "numbers that a halted rollout asks for")
	p.OnHalt = ""
	other, event, err := same.WithPolicy(p, origin.Actor.Person(), time.Now())
	expect.OK(t, err)
	expect.Equal(t, event+string(other.Terms.Policy.OnHalt), "RolloutPolicyChanged", "another one")
}

// TestRaces_AReturnBesideAnotherDecision_IsAsIfOneCameFirst: the rollout and the channel never disagree about the return.
func TestRaces_AReturnBesideAnotherDecision_IsAsIfOneCameFirst(t *testing.T) {
	rounds := expect.Long(5, 150)
	for name, other := range map[string]func(t *testing.T, f *fleet, id string){
		"a promotion":   func(t *testing.T, f *fleet, id string) { _, _ = f.try(t, id, rollout.Move{StagedPercent: new(10)}) },
		"a halt":        func(t *testing.T, f *fleet, id string) { f.move(t, id, 0, rollout.Halted) },
		"a return":      func(t *testing.T, f *fleet, id string) { _, _ = f.try(t, id, goBack) },
		"a completion":  func(t *testing.T, f *fleet, id string) { _, _ = f.try(t, id, rollout.Move{Status: rollout.Completed}) },
		"a publication": func(t *testing.T, f *fleet, _ string) { f.publish(t, "stable", "1.0.0", "a") },
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamotest.Embedded(t)
			for range rounds {
				f := newFleet(dynamo.Open(dynamotest.Uneven{API: client}, time.Now))
				f.publish(t, "stable", "1.0.0", "a")
				f.publish(t, "canary", "1.1.0", "b")
				id := f.start(t, "1.1.0")
				var err error
				var both sync.WaitGroup
				both.Go(func() { _, err = f.try(t, id, goBack) })
				both.Go(func() { other(t, f, id) })
				both.Wait()
				r, row := f.get(t, id), f.row(t)
				if err != nil && !problem.Has(err, problem.InvalidStateTransition) {
					t.Fatal(err)
				}
				expect.Equal(t, err == nil, r.ReturnedAt != nil, "the rollout says what was answered")
				published := row.Rollout == nil
				expect.Equal(t, row.ReturnedBy("1.1.0") == id, r.ReturnedAt != nil && !published, "the channel agrees")
				expect.Equal(t, r.Status == rollout.Active, false, "it is active")
			}
		})
	}
}
