package census_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A judgedFleet is a fleet with a rollout with a policy.
type judgedFleet struct {
	*fleet
	t     *testing.T
	id    string
	boxes []string
	// updated are the boxes that run the target.
	updated map[string]bool
}

// quick is a policy that acts and does not wait.
func quick() guard.Policy {
	p := guard.Default()
	p.Promote = guard.Promotion{Auto: true, Soak: guard.Soak{At1: "PT0S", At10: "PT0S", At50: "PT0S", At100: "PT0S"}}
	p.Guard.DecideWithin = guard.Lasting(2 * time.Minute)
	p.Guard.SilentAfter = guard.Lasting(2 * time.Minute)
	return p
}

// newJudgedFleet registers boxes, each organization's in turn, which run 1.0.0, and starts a rollout.
func newJudgedFleet(t *testing.T, client *dynamodb.Client, p guard.Policy, boxes int, organizations ...string) *judgedFleet {
	t.Helper()
	f := newFleet(t, client, 2)
	f.now = time.Now().UTC().Truncate(time.Millisecond) // the reference holds other tests' rollouts, too
	g := &judgedFleet{fleet: f, t: t, updated: map[string]bool{}}
	for i := range boxes {
		id := f.name(i, boxes)
		a := edge.Assignment{EdgeType: f.edgeType, Channel: f.channel, OrganizationID: organizations[i%len(organizations)]}
		expect.Value(f.registry.Put(f.ctx, audit.Origin{}, id, a, input.Preconditions{}))(t)
		g.boxes = append(g.boxes, id)
	}
	g.poll("1.0.0", g.boxes...)
	var err error
	g.id, err = f.rollouts.Start(f.ctx, audit.Origin{}, rollout.Plan{EdgeType: f.edgeType, Channel: f.channel, TargetVersion: "2.0.0", Policy: &p}, idempotency.Claim{})
	expect.OK(t, err)
	return g
}

// raise raises the rollout as a person.
func (g *judgedFleet) raise(percent int) {
	g.t.Helper()
	for _, stage := range cohort.Stages[1:] {
		if stage <= percent {
			g.fleet.move(g.t, g.id, rollout.Move{StagedPercent: &stage})
		}
	}
}

func (g *judgedFleet) poll(installed string, boxes ...string) {
	g.t.Helper()
	for _, id := range boxes {
		g.fleet.poll(g.t, id, installed)
	}
}

// update lets the boxes that the rollout reaches install the target and poll.
func (g *judgedFleet) update() {
	g.t.Helper()
	for _, id := range g.reached() {
		if !g.updated[id] {
			g.poll("1.0.0", id)
			g.updated[id] = true
		}
		g.poll("2.0.0", id)
	}
}

// reached are the boxes that the rollout reaches now.
func (g *judgedFleet) reached() []string {
	percent := g.rollout().StagedPercent
	return slices.DeleteFunc(slices.Clone(g.boxes), func(id string) bool { return !cohort.Of(g.edgeType, "2.0.0", id).In(percent) })
}

func (g *judgedFleet) rollout() rollout.Rollout {
	g.t.Helper()
	r, err := g.rollouts.Get(g.ctx, g.id)
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

// tick lets time pass, then runs a tick of the guard.
func (g *judgedFleet) tick(after time.Duration) census.Tally {
	g.t.Helper()
	g.now = g.now.Add(after)
	tally, err := g.progress.Tick(g.ctx, census.GuardOrigin("the tick"))
	if about(err, g.id) {
		g.t.Fatal(err)
	}
	return tally
}

// about reports whether an error of a tick concerns one of the rollouts. The reference stores also hold rollouts of
// other packages' tests, some of which are broken.
func about(err error, ids ...string) bool {
	return err != nil && slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(err.Error(), id) })
}

// verdict is the last one.
func (g *judgedFleet) verdict() census.Judgement {
	g.t.Helper()
	p, err := g.progress.Rollout(g.ctx, g.id, false, false)
	if err != nil || p.Guard == nil {
		g.t.Fatalf("the progress is %+v, %v", p, err)
	}
	return *p.Guard
}

// told is the version that a box is told.
func (g *judgedFleet) told(id string) string {
	g.t.Helper()
	why, err := g.progress.Why(g.ctx, owner, id)
	if err != nil {
		g.t.Fatal(err)
	}
	return why.Version
}

// events are the rollout's, oldest first.
func (g *judgedFleet) events() []audit.Event {
	g.t.Helper()
	page, err := audit.NewLog(g.db).List(g.ctx, audit.Platform, audit.Filter{ResourceType: rollout.ResourceType, ResourceID: g.id}, "", 100)
	if err != nil {
		g.t.Fatal(err)
	}
	slices.Reverse(page.Items)
	return page.Items
}

func TestGuard_GoodRelease_ReachesEveryoneByItself(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		g := newJudgedFleet(t, client, quick(), 40, "acme", "initech")
		for range 20 {
			if g.rollout().Status != rollout.Active {
				break
			}
			g.update()
			g.tick(time.Minute)
		}
		if r := g.rollout(); r.Status != rollout.Completed || !r.Adopted || r.EndedBy != rollout.ByGuard {
			t.Fatalf("the rollout is %+v, the verdict %+v", r, g.verdict())
		}
		var names []string
		for _, e := range g.events() {
			names = append(names, e.EventName)
			if e.EventName == "RolloutStarted" {
				continue
			}
			cause, _ := e.Cause.(map[string]any)
			if e.Actor.Issuer != "urn:wavegate:guard" || e.RequestID != "the tick" || cause["sentence"] == "" || cause["policyRevision"] != 1.0 {
				t.Errorf("%s by %+v in %q for %v", e.EventName, e.Actor, e.RequestID, e.Cause)
			}
		}
		want := []string{"RolloutStarted", "RolloutPromoted", "RolloutPromoted", "RolloutPromoted", "RolloutCompleted"}
		expect.That(t, slices.Equal(names, want), "the trail tells %q, want %q", names, want)
	})
}

// failing makes a fleet of 40 boxes at 100 percent. A quarter of them failed, too long ago to try again.
func failing(t *testing.T, client *dynamodb.Client, p guard.Policy) *judgedFleet {
	t.Helper()
	g := newJudgedFleet(t, client, p, 40, "acme", "initech")
	g.raise(100)
	g.poll("1.0.0", g.boxes...)
	for i, id := range g.boxes {
		if i%4 < 2 && i < 20 {
			g.fails(t, id)
		}
	}
	g.now = g.now.Add(3 * time.Minute)
	return g
}

func TestGuard_BadRelease_IsHaltedOnce_ByTwoTicksAtOnce(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		g := failing(t, client, quick())
		g.now = g.now.Add(time.Minute)
		var ticks sync.WaitGroup
		for range 2 {
			ticks.Go(func() {
				_, err := g.progress.Tick(g.ctx, census.GuardOrigin("the tick"))
				expect.That(t, !about(err, g.id), "%v", err)
			})
		}
		ticks.Wait()
		g.tick(time.Minute)
		r := g.rollout()
		expect.Must(t, r.Status == rollout.Halted && r.EndedBy == rollout.ByGuard, "the rollout is %+v", r)
		events := g.events()
		if last := events[len(events)-1]; last.EventName != "RolloutHalted" || len(events) != 5 {
			t.Errorf("%d events, the last %s", len(events), last.EventName)
		}
	})
}

func TestGuard_Advising_OnlySaysSo(t *testing.T) {
	p := quick()
	p.Mode = guard.Advise
	g := failing(t, dynamotest.Embedded(t), p)
	tally := g.tick(time.Minute)
	if r := g.rollout(); r.Status != rollout.Active || tally.Acted != 0 || tally.Verdicts[guard.Halt] != 1 {
		t.Errorf("the rollout is %s, the tally %+v", r.Status, tally)
	}
	v := g.verdict()
	expect.That(t, v.Action == guard.Halt && !v.Acts && v.Sentence != "", "the verdict is %+v", v)
	// In act mode, it carries out its verdict.
	p.Mode = guard.Act
	expect.OK(t, g.rollouts.SetPolicy(g.ctx, audit.Origin{}, g.id, p, input.Preconditions{}))
	if g.tick(time.Second); g.rollout().Status != rollout.Active {
		t.Error("it acted on a verdict under another policy")
	}
	if g.tick(time.Minute); g.rollout().Status != rollout.Halted {
		t.Error("it did not act")
	}
}

// TestGuard_ACallersCount_DoesNotKeepItFromActing: a tick makes its own count, whatever was counted for callers.
func TestGuard_ACallersCount_DoesNotKeepItFromActing(t *testing.T) {
	g := failing(t, dynamotest.Embedded(t), quick())
	g.count(t, g.id)
	tally := g.tick(time.Second)
	if tally.Counted != 1 || tally.Acted != 1 || g.rollout().Status != rollout.Halted {
		t.Errorf("the tally is %+v, the rollout %s", tally, g.rollout().Status)
	}
}

// TestGuard_CallersWhoCountAllTheTime_NeitherLookNorKeepItFromLooking: only ticks look at silence.
func TestGuard_CallersWhoCountAllTheTime_NeitherLookNorKeepItFromLooking(t *testing.T) {
	g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 100, "acme")
	g.raise(50)
	g.now = g.now.Add(time.Second)
	g.poll("1.0.0", g.boxes...)
	g.update()
	g.now = g.now.Add(3 * time.Minute)
	g.count(t, g.id)
	if looks := g.verdict().Looks; len(looks) > 0 {
		t.Errorf("a caller's count looks: %+v", looks)
	}
	g.tick(time.Second)
	if looks := g.verdict().Looks; len(looks) != 3 || looks[2].Number != 1 {
		t.Errorf("the tick's looks are %+v", looks)
	}
	g.count(t, g.id)
	g.tick(time.Second)
	looks := g.verdict().Looks
	expect.That(t, len(looks) == 3 && looks[2].Number == 1, "it looks again immediately: %+v", looks)
}

func TestGuard_RolloutThatChangedSinceItWasJudged_IsLeftAlone(t *testing.T) {
	g := failing(t, dynamotest.Embedded(t), quick())
	g.count(t, g.id)
	g.fleet.move(t, g.id, rollout.Move{Status: rollout.Halted})
	g.fleet.move(t, g.id, rollout.Move{Status: rollout.Active})
	if tally := g.tick(time.Second); tally.Acted != 0 || g.rollout().Status != rollout.Active {
		t.Errorf("the tally is %+v, the rollout %s", tally, g.rollout().Status)
	}
}

func TestGuard_TickThatDiesAtItsMove_LeavesNoTrace(t *testing.T) {
	g := failing(t, dynamotest.Embedded(t), quick())
	before := len(g.events())
	g.now = g.now.Add(time.Minute)
	g.api.refuse = func() error { return errors.New("killed") }
	_, err := g.progress.Tick(g.ctx, census.GuardOrigin("the tick"))
	expect.Must(t, err != nil, "the tick that could not move the rollout returns no error")
	if g.rollout().Status != rollout.Active || len(g.events()) != before {
		t.Fatalf("the rollout is %s after %d events", g.rollout().Status, len(g.events()))
	}
	g.api.refuse = nil
	if g.tick(time.Minute); g.rollout().Status != rollout.Halted || len(g.events()) != before+1 {
		t.Errorf("the next tick: %s after %d events", g.rollout().Status, len(g.events()))
	}
}

func TestGuard_OneOrganizationsBoxesAlone_StopTelling_UntilAPersonDecides(t *testing.T) {
	g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 120, "acme", "acme", "acme", "initech")
	g.raise(100)
	g.poll("1.0.0", g.boxes[:100]...)
	for i, id := range g.boxes[:100] {
		g.poll("2.0.0", id)
		if i%4 == 3 { // it falls back
			g.poll("1.0.0", id)
		}
	}
	tally := g.tick(time.Minute)
	if v := g.verdict(); v.Reason != guard.OneOrganization || v.Organization != "initech" {
		t.Errorf("the verdict is %+v, the tally %+v", v, tally)
	}
	g.tick(2 * time.Minute)
	if r := g.rollout(); r.Status != rollout.Active || r.StoppedFor != guard.OneOrganization {
		t.Fatalf("it is %s, stopped for %s", r.Status, r.StoppedFor)
	}
	v := g.verdict()
	expect.That(t, slices.Contains(v.Reasons, guard.TellingStopped), "the verdict is %s", v.Sentence)
	late, told := g.boxes[101], g.boxes[0]
	g.poll("1.0.0", late)
	g.poll("1.0.0", told)
	expect.Equal(t, g.told(late), "1.0.0", "a box that was not told before is told")
	expect.Equal(t, g.told(told), "2.0.0", "a box that was told before is told")
	g.fleet.move(t, g.id, rollout.Move{Status: rollout.Active, Without: []string{"initech"}})
	g.poll("1.0.0", late, g.boxes[103])
	if r := g.rollout(); r.Stopped() || !slices.Equal(r.Without, []string{"initech"}) || r.Mode() != guard.Act {
		t.Errorf("it goes on as %+v", r)
	}
	a, b := g.told(late), g.told(g.boxes[103])
	expect.That(t, a == "2.0.0" && b == "1.0.0", "a box of another organization is told %s, one of initech %s", a, b)
	g.tick(2 * time.Minute)
	if j := g.verdict(); slices.Contains(j.Reasons, guard.OneOrganization) || j.Excluded != 30 {
		t.Errorf("without it: %s, %d left out", j.Sentence, j.Excluded)
	}
}
