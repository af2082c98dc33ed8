package census_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// unreadable lists what else can be unreadable during a count.
var unreadable = map[string]func(*judgedFleet){
	"when boxes were last seen": func(g *judgedFleet) { g.blind = true },
	"the freeze":                func(g *judgedFleet) { g.api.unreadable = "freeze" },
}

func TestGuard_WhatCannotBeRead_KeepsNoBadReleaseGoing(t *testing.T) {
	for what, trouble := range unreadable {
		t.Run(what, func(t *testing.T) {
			g := failing(t, dynamotest.Embedded(t), quick())
			trouble(g)
			if g.tick(time.Minute); g.rollout().Status != rollout.Halted {
				t.Errorf("the rollout is %s: %s", g.rollout().Status, g.verdict().Sentence)
			}
		})
	}
}

func TestGuard_WhatCannotBeRead_PromotesNothing(t *testing.T) {
	for what, trouble := range unreadable {
		t.Run(what, func(t *testing.T) {
			g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 200, "acme", "initech")
			g.raise(10)
			g.update()
			g.now = g.now.Add(3 * time.Minute)
			g.update()
			trouble(g)
			_, _ = g.progress.Tick(g.ctx, census.GuardOrigin("the tick")) // it returns the error that the freeze cannot be read
			if r := g.rollout(); r.Status != rollout.Active || r.StagedPercent != 10 {
				t.Errorf("the rollout is %s at %d: %s", r.Status, r.StagedPercent, g.verdict().Sentence)
			}
			g.blind, g.api.unreadable = false, ""
			if g.tick(time.Minute); g.rollout().StagedPercent != 50 {
				t.Errorf("afterwards it is at %d: %s", g.rollout().StagedPercent, g.verdict().Sentence)
			}
		})
	}
}

// TestGuard_CountsThatAreOvertaken_AreKept: each count takes longer than callers wait for a new one, and the callers'
// counts fail. The tick's count still becomes the last answer, and an earlier answer never replaces a later one.
func TestGuard_CountsThatAreOvertaken_AreKept(t *testing.T) {
	for name, theirs := range map[string]error{"theirs fail": errors.New("killed"), "theirs end first": nil} {
		t.Run(name, func(t *testing.T) {
			g := failing(t, dynamotest.Embedded(t), quick())
			g.now = g.now.Add(time.Minute)
			begun := g.now
			db := dynamo.Open(&faulty{API: g.api.API, fail: func() error { return theirs }}, g.time)
			caller := census.NewStore(db, census.Settings{Shards: 2, PollInterval: time.Minute, GuardInterval: time.Minute},
				func(context.Context, string) (time.Time, error) { return time.Time{}, nil })
			var once sync.Once
			g.api.fail = func() error {
				once.Do(func() {
					g.later(11 * time.Second)
					_, err := caller.Rollout(g.ctx, g.id, false, true)
					expect.That(t, (err == nil) == (theirs == nil), "the caller's count: %v", err)
				})
				return nil
			}
			expect.Value(g.progress.Rollout(g.ctx, g.id, false, true))(t)
			g.api.fail = nil
			want := begun
			if theirs == nil {
				want = begun.Add(11 * time.Second)
			}
			p, err := g.progress.Rollout(g.ctx, g.id, false, false)
			expect.That(t, err == nil && p.AsOf.Equal(want), "the last count is of %s, want %s; %v", p.AsOf, want, err)
		})
	}
}

// TestGuard_BoxesThatDiedBeforeAResumption_AreNotForgotten lets boxes of the present stage die before the rollout is
// halted and resumed. They are compared from the stage's start on, so the resumption does not hide them.
func TestGuard_BoxesThatDiedBeforeAResumption_AreNotForgotten(t *testing.T) {
	p := quick()
	p.Guard.Taken = 0.1
	g := newJudgedFleet(t, dynamotest.Embedded(t), p, 60, "acme", "initech")
	g.raise(50)
	g.now = g.now.Add(time.Second)
	g.update()
	g.fleet.move(t, g.id, rollout.Move{Status: rollout.Halted})
	g.now = g.now.Add(time.Second)
	g.fleet.move(t, g.id, rollout.Move{Status: rollout.Active})
	g.now = g.now.Add(3 * time.Minute)
	dead, others := 0, slices.DeleteFunc(slices.Clone(g.boxes), func(id string) bool { return g.updated[id] })
	g.poll("1.0.0", others...)
	g.poll("2.0.0", slices.DeleteFunc(g.reached(), func(id string) bool {
		if dead == 9 || cohort.FirstStage(g.edgeType, "2.0.0", id) != 50 {
			return false
		}
		dead++
		return true
	})...)
	g.count(t, g.id) // it does not look at silence, so it cannot halt
	if v := g.verdict(); v.Action != guard.Hold || !slices.Equal(v.Reasons, []guard.Reason{guard.Silent}) {
		t.Errorf("without them: %s", v.Sentence)
	}
	g.poll("2.0.0", g.reached()...)
	g.now = g.now.Add(time.Minute)
	g.count(t, g.id) // nor does it look at kinds
	v := g.verdict()
	expect.That(t, slices.Equal(v.Reasons, []guard.Reason{guard.NotSurveyed}), "with them: %s", v.Sentence)
}

// TestGuard_CompletedReleaseThatGoesBad_Pages_ForASoak lets the boxes of a completed rollout fall back. It is too late
// to halt, so people are paged. After the soak the rollout is left alone.
func TestGuard_CompletedReleaseThatGoesBad_Pages_ForASoak(t *testing.T) {
	p := quick()
	p.Promote.Soak.At100 = guard.Lasting(time.Hour)
	g := newJudgedFleet(t, dynamotest.Embedded(t), p, 40, "acme", "initech")
	g.raise(100)
	g.update()
	g.fleet.move(t, g.id, rollout.Move{Status: rollout.Completed})
	g.now = g.now.Add(11 * time.Minute)
	g.update()
	if tally := g.tick(time.Second); tally.Paging != 0 {
		t.Errorf("a good release pages people: %s", g.verdict().Sentence)
	}
	g.poll("1.0.0", g.boxes...)
	if tally := g.tick(11 * time.Minute); tally.Paging != 1 || tally.Acted != 0 {
		t.Errorf("the tally is %+v", tally)
	}
	if v := g.verdict(); !v.Pages || v.Acts || v.Sentence != "Completed, and 40 of 40 boxes with the release are bad." {
		t.Errorf("pages: %v; %s", v.Pages, v.Sentence)
	}
	g.tick(11 * time.Minute)
	got, want := g.warnings(), []string{"RolloutWentBad at 100"}
	expect.That(t, slices.Equal(got, want), "people are told %q, want %q", got, want)
	tally := g.tick(time.Hour)
	expect.That(t, tally.Paging == 0, "an hour later the tally is %+v", tally)
}

// TestGuard_LostSightings_ItHoldsUntilBoxesAreSeenAgain: after a restore from backups, it is unknown when boxes were
// last seen.
func TestGuard_LostSightings_ItHoldsUntilBoxesAreSeenAgain(t *testing.T) {
	client := dynamotest.Embedded(t)
	g := newJudgedFleet(t, client, quick(), 100, "acme")
	g.raise(50)
	g.now = g.now.Add(time.Second)
	g.poll("1.0.0", g.boxes...)
	g.update()
	for _, id := range g.boxes {
		_, err := client.DeleteItem(g.ctx, &dynamodb.DeleteItemInput{
			TableName: aws.String(dynamolocal.TableName(dynamo.RateCounters)),
			Key:       map[string]types.AttributeValue{"subject": &types.AttributeValueMemberS{Value: ratelimit.Subject(fleetIssuer + " " + id)}},
		})
		expect.OK(t, err)
	}
	holds := func(when string) {
		t.Helper()
		for range 5 {
			g.tick(3 * time.Minute)
			if r := g.rollout(); r.Status != rollout.Active || r.StagedPercent != 50 {
				t.Fatalf("%s the rollout is %s at %d: %s", when, r.Status, r.StagedPercent, g.verdict().Sentence)
			}
		}
	}
	holds("with no box seen,")
	g.poll("2.0.0", g.reached()[:1]...)
	holds("with one box seen,")
	g.update()
	if g.tick(time.Minute); g.rollout().StagedPercent != 100 {
		t.Errorf("with all boxes seen it is at %d: %s", g.rollout().StagedPercent, g.verdict().Sentence)
	}
}
