package census_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

func TestWarningsOf_TellWhatNeedsPeople_AndNotWhatTheGuardDoesItself(t *testing.T) {
	hold := func(why ...guard.Reason) guard.Verdict {
		return guard.Verdict{Action: guard.Hold, Reason: why[0], Reasons: why, Stage: 10, Next: 50, Distance: guard.Distance{MoreBad: 20, Undecided: 100}}
	}
	near := hold(guard.Soaking)
	near.Halting.Bad, near.Distance.MoreBad = 4, 2
	failing := hold(guard.Soaking)
	failing.Retrying = &guard.Retrying{Boxes: 5, Told: 9, Halts: true}
	bad := hold(guard.Silent)
	bad.Stage, bad.Next, bad.Pages = 100, 0, true
	for name, c := range map[string]struct {
		given guard.Verdict
		event string
		stage int
	}{
		"2 more bad would halt it":          {near, census.NearHalt, 10},
		"many failed, and may recover":      {failing, census.NearHalt, 10},
		"one organization holds up a halt":  {hold(guard.OneOrganization), census.NearHalt, 10},
		"the guard would, but only advises": {guard.Verdict{Action: guard.Halt, Stage: 10}, census.NearHalt, 10},
		"the guard halts it":                {guard.Verdict{Action: guard.Halt, Acts: true, Pages: true, Stage: 100}, "", 0},
		"everybody has it, and it goes bad": {bad, census.WentBad, 100},
		"only the approval is missing":      {hold(guard.ApprovalRequired), census.ApprovalWaiting, 50},
		"the approval, and then a person":   {hold(guard.PeoplePromote, guard.ApprovalRequired), census.ApprovalWaiting, 50},
		"the approval, and then a window":   {hold(guard.WindowClosed, guard.Frozen, guard.ApprovalRequired), census.ApprovalWaiting, 50},
		"the approval, once it has soaked":  {hold(guard.Soaking, guard.ApprovalRequired), "", 0},
		"the approval, and too few boxes":   {hold(guard.TooFewTaken, guard.ApprovalRequired), "", 0},
		"people promote":                    {hold(guard.PeoplePromote), "", 0},
		"all is well":                       {hold(guard.Soaking), "", 0},
		"the guard promotes":                {guard.Verdict{Action: guard.Promote, Acts: true, Distance: guard.Distance{MoreBad: 20, Undecided: 9}}, "", 0},
	} {
		var want []census.Warning
		if c.event != "" {
			want = []census.Warning{{Event: c.event, Stage: c.stage}}
		}
		expect.Equal(t, census.WarningsOf(c.given), want, "%s", name)
	}
}

// TestWarningsOf_ANeed_IsTriedForTenCounts: each attempt costs a read, and a lost one is made up for.
func TestWarningsOf_ANeed_IsTriedForTenCounts(t *testing.T) {
	for counts, told := range map[int]bool{1: false, 9: false, 10: true, 19: true, 20: false, 1000: false} {
		v := guard.Verdict{Action: guard.Hold, Reason: guard.KindDoubtful, Stage: 10, Distance: guard.Distance{MoreBad: 20},
			Needs: &guard.Need{Reason: guard.KindDoubtful, Stage: 10, Counts: counts}}
		var want []census.Warning
		if told {
			want = []census.Warning{{Event: "RolloutNeedsPerson", Stage: 10, Reason: guard.KindDoubtful}}
		}
		expect.Equal(t, census.WarningsOf(v), want, "after %d counts", counts)
	}
}

// TestWarnings_ANeedThatStands_IsToldOnce_AndItsEndToo: no box takes the release, until all do.
func TestWarnings_ANeedThatStands_IsToldOnce_AndItsEndToo(t *testing.T) {
	p := quick()
	p.Promote.Auto = false
	p.Guard.Taken = 1
	g := newJudgedFleet(t, dynamotest.Embedded(t), p, 60, "acme", "initech")
	g.raise(50)
	g.poll("1.0.0", g.reached()...)
	g.tick(3 * time.Minute)
	for range 25 {
		g.poll("1.0.0", g.reached()...) // they call, and do not install it
		g.tick(time.Minute)
	}
	expect.Equal(t, g.warnings(), []string{"RolloutNeedsPerson for TOO_FEW_TAKEN at 50"}, "told once it has stood")
	v := g.verdict()
	expect.Equal(t, v.Needs.Reason, guard.TooFewTaken, "it needs a person because of")
	expect.Equal(t, g.tick(time.Minute).NeedPerson >= 1, true, "the tick counts it:")
	for range 25 {
		g.update()
		g.tick(time.Minute)
	}
	expect.Equal(t, g.warnings(), []string{"RolloutNeedsPerson for TOO_FEW_TAKEN at 50",
		"RolloutNeedsNobody for TOO_FEW_TAKEN at 50", "RolloutNeedsPerson for PEOPLE_PROMOTE at 50"}, "%s", g.verdict().Sentence)
	expect.Equal(t, g.verdict().Needs.Reason, guard.PeoplePromote, "then it needs a person because of")
	expect.Equal(t, g.verdict().Needs.Alarms(), false, "which is expected, so it alarms:")
}

// warnings lists the rollout's warnings, as event and stage, oldest first. Each has the guard's sentence.
func (g *judgedFleet) warnings() (told []string) {
	g.t.Helper()
	page, err := audit.NewLog(g.db).List(g.ctx, audit.Platform, audit.Filter{ResourceType: census.WarningResourceType, ResourceID: g.id}, "", 100)
	if err != nil {
		g.t.Fatal(err)
	}
	for i, e := range slices.Backward(page.Items) {
		given, _ := e.After.(map[string]any)["given"].([]any)
		last, _ := given[len(given)-1].(map[string]any)
		cause, _ := e.Cause.(map[string]any)
		if sentence, _ := cause["sentence"].(string); sentence == "" || last["event"] != e.EventName || e.Actor.Issuer != rollout.Guard.Issuer || e.Resource.Revision != int64(len(page.Items)-i) {
			g.t.Errorf("the event is %+v", e)
		}
		line := fmt.Sprintf("%v at %v", last["event"], last["stage"])
		if last["reason"] != nil {
			line = fmt.Sprintf("%v for %v at %v", last["event"], last["reason"], last["stage"])
		}
		told = append(told, line)
	}
	return told
}

func TestWarnings_AreToldOnceAStage_AndLeaveTheRolloutAlone(t *testing.T) {
	p := quick()
	p.Approvals.Before = []int{50, 100}
	g := newJudgedFleet(t, dynamotest.Embedded(t), p, 60, "acme", "initech")
	for range 8 {
		g.update()
		g.tick(time.Minute)
	}
	revision := g.rollout().Revision
	if got, want := g.warnings(), []string{"RolloutApprovalWaiting at 50"}; !slices.Equal(got, want) {
		t.Fatalf("told %q, want %q; %s", got, want, g.verdict().Sentence)
	}
	anna := audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "anna"}}
	err := g.rollouts.Approve(g.ctx, anna, g.id, 50, input.Matching(input.Revision(revision)))
	expect.Must(t, err == nil, "the warning changed the rollout: %v", err)
	for range 8 {
		g.update()
		g.tick(time.Minute)
	}
	if got, want := g.warnings(), []string{"RolloutApprovalWaiting at 50", "RolloutApprovalWaiting at 100"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q; %s", got, want, g.verdict().Sentence)
	}
}

func TestWarnings_GuardThatOnlyAdvises_TellsWhatItWouldHalt_TwoTicksAtOnceToo(t *testing.T) {
	p := quick()
	p.Mode = guard.Advise
	g := failing(t, dynamotest.Embedded(t), p)
	g.now = g.now.Add(time.Minute)
	done := make(chan error)
	for range 2 {
		go func() { _, err := g.progress.Tick(g.ctx, census.GuardOrigin("the tick")); done <- err }()
	}
	for range 2 {
		err := <-done
		expect.That(t, !about(err, g.id), "%v", err)
	}
	g.tick(time.Minute)
	if got, want := g.warnings(), []string{"RolloutWentBad at 100"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q; %s", got, want, g.verdict().Sentence)
	}
}

func TestWarnings_HaltByTheGuard_IsNotTold_SinceItsOwnEventIs(t *testing.T) {
	g := failing(t, dynamotest.Embedded(t), quick())
	g.tick(time.Minute)
	if g.tick(time.Minute); g.rollout().Status != rollout.Halted {
		t.Fatalf("the rollout is %s", g.rollout().Status)
	}
	got := g.warnings()
	expect.That(t, len(got) == 0, "told %q", got)
}
