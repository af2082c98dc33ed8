package census_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestGuard_UnderRandomReportsClocksAndLostTicks plays boxes, people, lost and dying ticks in any order. Whatever
// happens, the guard moves one stage at a time and says why. It never promotes a frozen or unapproved rollout. A
// rollout that a person has halted stays halted.
func TestGuard_UnderRandomReportsClocksAndLostTicks(t *testing.T) {
	dynamotest.Check(t, func(rt *rapid.T) {
		client := dynamotest.Embedded(t) // the freeze is one for all
		p := quick()
		p.Approvals.Before = []int{50}
		g := newJudgedFleet(t, client, p, 12, "acme", "initech")
		byPerson := false // the last status was set by a person
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			before := g.rollout()
			box := rapid.SampledFrom(g.boxes).Draw(rt, "box")
			g.now = g.now.Add(time.Duration(rapid.IntRange(0, 180).Draw(rt, "seconds")) * time.Second)
			ticked := false
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				g.poll("1.0.0", box)
			case 1, 2:
				g.update()
			case 3:
				if before.Status == rollout.Active && slices.Contains(g.reached(), box) {
					g.poll("1.0.0", box)
					g.fails(rt, box)
				}
			case 4:
				status := rapid.SampledFrom([]rollout.Status{rollout.Halted, rollout.Active}).Draw(rt, "status")
				_, err := g.rollouts.Move(g.ctx, audit.Origin{}, g.id, rollout.Move{Status: status}, input.Preconditions{})
				byPerson = byPerson || err == nil && status == rollout.Halted
			case 5:
				_ = g.rollouts.Approve(g.ctx, audit.Origin{Actor: audit.Actor{UserID: "otto"}}, g.id, 50, input.Preconditions{}) // may be too late
			case 6:
				w := freeze.Wish{Reason: "holidays", Until: g.now.Add(time.Duration(rapid.IntRange(1, 10).Draw(rt, "minutes")) * time.Minute)}
				expect.Value(freeze.NewStore(g.db).Set(g.ctx, audit.Origin{}, w, input.Preconditions{}))(rt)
				continue
			default:
				ticked = true
				if rapid.IntRange(0, 4).Draw(rt, "dies") == 0 {
					g.api.refuse = func() error { return errors.New("killed") }
				}
				_, _ = g.progress.Tick(g.ctx, census.GuardOrigin("the tick")) // a tick that dies returns an error
				g.api.refuse = nil
			}
			after := g.rollout()
			if !ticked {
				continue
			}
			frozen := expect.Value(freeze.NewStore(g.db).Holding(g.ctx))(rt)
			promoted := after.StagedPercent != before.StagedPercent
			events := g.events()
			last := events[len(events)-1]
			switch {
			case promoted && after.StagedPercent != following(before.StagedPercent):
				rt.Fatalf("promoted from %d to %d", before.StagedPercent, after.StagedPercent)
			case promoted && frozen != nil:
				rt.Fatalf("promoted in a freeze until %v", frozen.Until)
			case promoted && after.StagedPercent == 50 && !slices.Contains(before.Approved(), 50):
				rt.Fatal("promoted without the approval")
			case byPerson && before.Status != rollout.Active && after.Status != before.Status:
				rt.Fatalf("a person left it %s, and it is %s", before.Status, after.Status)
			case after.Revision != before.Revision && (last.Cause == nil || last.Actor.Issuer != rollout.Guard.Issuer || after.Revision != before.Revision+1):
				rt.Fatalf("the guard's move %s has the cause %v", last.EventName, last.Cause)
			case after.Revision != before.Revision && after.Terms.Policy.Mode == guard.Advise:
				rt.Fatal("it acted although it should only advise")
			}
		}
	})
}

func following(percent int) int {
	return cohort.Stages[slices.Index(cohort.Stages, percent)+1]
}
