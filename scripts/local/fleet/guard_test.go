package fleet

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

// acting is a policy under which things happen in seconds instead of hours. The guard looks at most once a second.
// silentAfter must be longer than it takes all boxes to poll in turn. A failure is bad after decideWithin.
func acting(silentAfter, decideWithin string) string {
	return `{"guard":{"silentAfter":"` + silentAfter + `","decideWithin":"` + decideWithin +
		`"},"promote":{"auto":true,"soak":{"1":"PT1S","10":"PT1S","50":"PT1S","100":"PT1S"}}}`
}

// TestGuard_LeadsAFleetBySight makes the guard lead rollouts over a fleet of 1,200 simulated boxes. Every tenth box
// belongs to initech, the others to acme. The audit trail has the outcome of each rollout.
func TestGuard_LeadsAFleetBySight(t *testing.T) {
	expect.Full(t)
	f := newPlayed(t, 1200)
	f.prepared(t)
	for _, run := range []struct {
		name                      string
		silentAfter, decideWithin string
		play                      func(*lead, *testing.T)
	}{
		{"failing", "PT2M", "PT4S", (*lead).fails},
		{"no space", "PT30S", "PT4S", (*lead).noSpace},
		{"plants are dark", "PT12S", "PT4S", (*lead).dark},
		{"one organization's boxes fall back", "PT2M", "PT5M", (*lead).oneOrganization},
		{"an operator halts while the guard promotes", "PT30S", "PT4S", (*lead).contested},
		{"bricking", "PT12S", "PT4S", (*lead).bricks}, // the last ones: bricked boxes never come back
		{"bricking late", "PT12S", "PT4S", (*lead).bricksLate},
	} {
		t.Run(run.name, func(t *testing.T) {
			l := f.start(t, acting(run.silentAfter, run.decideWithin))
			run.play(l, t)
			l.timeline(t)
		})
	}
}

// TestGuard_AGoodRelease_ReachesTheEndAlone in a fleet of 200 boxes, in a long run of 1,200.
func TestGuard_AGoodRelease_ReachesTheEndAlone(t *testing.T) {
	expect.Full(t)
	f := newPlayed(t, expect.Long(200, 1200))
	f.prepared(t)
	l := f.start(t, acting(expect.Long("PT12S", "PT30S"), "PT4S"))
	l.good(t)
	l.timeline(t)
}

// prepared sets up the fleet: every tenth box belongs to another organization, and all of them run 1.0.0.
func (f *played) prepared(t *testing.T) {
	t.Helper()
	for i := 0; i < len(f.boxes); i += 10 {
		owner := f.As(t, fmt.Sprintf("mover-%d", i/1000), "wavegate", "platform_owner")
		owner.Put(t, "/api/edges/"+f.boxes[i].id, `{"edgeType":"gateway-x","channel":"stable","organizationId":"initech"}`).
			Is(t, http.StatusNoContent)
	}
	for _, b := range f.boxes {
		b.chances = &chances{}
	}
	f.everyonePolls(t, 2)
}

// A lead is a rollout of its own version, with a policy, over the boxes that are alive.
type lead struct {
	*played
	id, version string
	began       time.Time
	told        int // the most boxes that it was offered to
}

func (f *played) start(t *testing.T, policy string) *lead {
	t.Helper()
	l := &lead{played: f, version: fmt.Sprintf("2.%d.0", f.runs), began: time.Now()}
	f.runs++
	owner := f.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/canary", publication(l.version, fmt.Sprint(f.runs))).Is(t, http.StatusNoContent)
	location := owner.Post(t, "/api/ota/rollouts",
		`{"edgeType":"gateway-x","channel":"stable","targetVersion":"`+l.version+`","policy":`+policy+`}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	l.id = strings.TrimPrefix(location, "/api/ota/rollouts/")
	return l
}

func (l *lead) path() string { return "/api/ota/rollouts/" + l.id }

// toTen promotes the rollout: stage 1 has a dozen boxes, which is too few to judge by.
func (l *lead) toTen(t *testing.T) {
	t.Helper()
	l.Owner(t).Patch(t, l.path(), `{"staged_percent":10,"reason":"more boxes to judge by"}`).Is(t, http.StatusNoContent)
}

func (l *lead) fate(c chances) {
	for _, b := range l.boxes {
		b.chances = &c
	}
}

// poll makes the boxes that the rollout reaches poll, and some of the others, except those that are off.
func (l *lead) poll(t *testing.T, times int, off func(int) bool) {
	t.Helper()
	percent, others := l.rollout(t).StagedPercent, 0
	all := l.boxes
	defer func() { l.boxes = all }()
	l.boxes = nil
	for i, b := range all {
		reached := cohort.Of("gateway-x", l.version, b.id).In(percent)
		if !reached {
			others++
		}
		if off != nil && off(i) || !reached && others > expect.Long(300, 600) {
			continue
		}
		l.boxes = append(l.boxes, b)
	}
	l.everyonePolls(t, times)
}

// look runs the tick, a second after the previous one.
func (l *lead) look(t *testing.T) {
	t.Helper()
	time.Sleep(time.Second)
	expect.OK(t, l.RunTask(t.Context(), operations.Tick))
}

func (l *lead) rollout(t *testing.T) (r rollout.Rollout) {
	t.Helper()
	l.Owner(t).Get(t, l.path()).Into(t, &r)
	return r
}

func (l *lead) progress(t *testing.T) (p census.Progress) {
	t.Helper()
	l.Owner(t).Get(t, l.path()+"/progress").Into(t, &p)
	l.told = max(l.told, census.Total(p.Stages).Expected)
	return p
}

// until makes boxes poll and the guard look until a condition holds.
func (l *lead) until(t *testing.T, off func(int) bool, so func(rollout.Rollout, guard.Verdict) bool) (rollout.Rollout, guard.Verdict) {
	t.Helper()
	said := ""
	for deadline := time.Now().Add(12 * time.Minute); ; {
		l.poll(t, 1, off)
		l.look(t)
		r, p := l.rollout(t), l.progress(t)
		expect.Must(t, p.Guard != nil, "the guard says nothing")
		if said != p.Guard.Sentence {
			said = p.Guard.Sentence
			t.Logf("%5.1f s  %s", time.Since(l.began).Seconds(), said)
		}
		if so(r, p.Guard.Verdict) {
			return r, p.Guard.Verdict
		}
		if time.Now().After(deadline) {
			t.Fatalf("the rollout is %s at %d: %s", r.Status, r.StagedPercent, p.Guard.Sentence)
		}
	}
}

// gotIt counts the boxes that were told the release.
func (l *lead) gotIt() int {
	n := 0
	for _, s := range l.seen.truth {
		if s.rollout == l.id {
			n++
		}
	}
	return n
}

func ended(r rollout.Rollout, _ guard.Verdict) bool { return r.Status != rollout.Active }

// haltedByItself checks that the guard halted the rollout at a stage of 1 or 10 percent, and that no more boxes got it.
func (l *lead) haltedByItself(t *testing.T, r rollout.Rollout, why guard.Reason) {
	t.Helper()
	share := 0
	for _, b := range l.boxes {
		if cohort.Of("gateway-x", l.version, b.id).In(r.StagedPercent) {
			share++
		}
	}
	v := l.progress(t).Guard
	because := slices.Contains(v.Reasons, why)
	if why == guard.TooManySilent { // once the stage has soaked, its survey may see them first: all boxes are of one kind
		because = because || slices.Contains(v.Reasons, guard.KindBad) && strings.Contains(v.Sentence, "are silent")
	}
	if r.Status != rollout.Halted || r.EndedBy != rollout.ByGuard || r.StagedPercent > 10 || l.gotIt() > share || !because {
		t.Errorf("the rollout is %s by %q at %d, %d boxes got it of %d: %s", r.Status, r.EndedBy, r.StagedPercent, l.gotIt(), share, v.Sentence)
	}
}

func (l *lead) bricks(t *testing.T) {
	l.fate(chances{brick: 0.5})
	l.toTen(t)
	r, _ := l.until(t, nil, ended)
	l.haltedByItself(t, r, guard.TooManySilent)
}

// bricksLate makes boxes die after they have run the release for a while and reported it.
func (l *lead) bricksLate(t *testing.T) {
	l.fate(chances{brick: 0.5, brickAfter: 5 * time.Second})
	l.toTen(t)
	r, _ := l.until(t, nil, ended)
	l.haltedByItself(t, r, guard.TooManySilent)
}

// noSpace makes half of the boxes lack space. The release is not to blame, so nothing is halted, but it goes no
// further.
func (l *lead) noSpace(t *testing.T) {
	l.fate(chances{fail: 0.5, code: report.CodeSpace})
	l.toTen(t)
	r, v := l.until(t, nil, func(_ rollout.Rollout, v guard.Verdict) bool { return v.Reason == guard.TooFewTaken })
	expect.That(t, r.Status == rollout.Active && v.Action == guard.Hold && v.Taken.Causes[guard.Space] != 0,
		"the rollout is %s: %s", r.Status, v.Sentence)
	for range 3 {
		l.poll(t, 1, nil)
		l.look(t)
	}
	r = l.rollout(t)
	expect.Equal(t, []any{r.Status, r.StagedPercent}, []any{rollout.Active, 10}, "a few looks later the rollout is")
	l.Owner(t).Patch(t, l.path(), `{"status":"halted","reason":"the run is over"}`).Is(t, http.StatusNoContent)
}

func (l *lead) fails(t *testing.T) {
	l.fate(chances{fail: 0.4})
	l.toTen(t)
	r, _ := l.until(t, nil, ended)
	l.haltedByItself(t, r, guard.TooManyBad)
}

// dark switches three of ten factories off after their boxes were told of the release. Both groups go silent equally,
// so nothing is halted. The rollout stays at its stage, because too few boxes take it.
func (l *lead) dark(t *testing.T) {
	l.fate(chances{})
	time.Sleep(time.Until(l.rollout(t).StartedAt.Add(time.Second))) // when a box was last seen is known to half a second
	l.poll(t, 1, nil)
	off := func(i int) bool { return i/10%10 < 3 }
	began, silent := time.Now(), false
	held := func(r rollout.Rollout, v guard.Verdict) bool {
		expect.Must(t, r.Status == rollout.Active && r.StagedPercent <= 10,
			"the rollout is %s at %d: %s", r.Status, r.StagedPercent, v.Sentence)
		silent = silent || slices.ContainsFunc(v.Looks, func(l guard.Look) bool { return l.Treated.Silent > 0 && l.Control.Silent > 0 })
		return silent && time.Since(began) > 40*time.Second
	}
	_, v := l.until(t, off, held)
	expect.That(t, v.Action == guard.Hold, "the verdict is %+v", v)
	l.Owner(t).Patch(t, l.path(), `{"status":"halted","reason":"the run is over"}`).Is(t, http.StatusNoContent)
	for _, b := range l.boxes { // the factories come back
		b.etag = ""
	}
}

// oneOrganization makes every box of initech fall back, and no other.
func (l *lead) oneOrganization(t *testing.T) {
	for i, b := range l.boxes {
		b.chances = &chances{}
		if i%10 == 0 {
			b.chances.revert = 1
		}
	}
	l.toTen(t)
	r, v := l.until(t, nil, func(_ rollout.Rollout, v guard.Verdict) bool { return v.Reason == guard.OneOrganization })
	expect.Equal(t, []any{r.Status, v.Organization}, []any{rollout.Active, "initech"}, "the rollout is")
	expect.Until(t, "people hear of it", func() bool {
		var page struct{ Items []struct{ EventName string } }
		l.Owner(t).Get(t, "/api/audit-events?resourceType=rollout-warning&resourceId="+l.id).Into(t, &page)
		return slices.ContainsFunc(page.Items, func(e struct{ EventName string }) bool { return e.EventName == string(census.NearHalt) })
	})
	l.Owner(t).Patch(t, l.path(), `{"status":"halted","reason":"the run is over"}`).Is(t, http.StatusNoContent)
}

// contested makes an operator halt at the moment at which the guard promotes.
func (l *lead) contested(t *testing.T) {
	l.fate(chances{})
	l.poll(t, 2, nil)
	l.until(t, nil, func(r rollout.Rollout, v guard.Verdict) bool { return r.StagedPercent == 10 })
	l.poll(t, 2, nil)
	time.Sleep(time.Until(since(t, l).Add(35 * time.Second))) // the soak is over: the next tick promotes
	l.poll(t, 1, nil)
	ticked := make(chan error)
	go func() { ticked <- l.RunTask(t.Context(), operations.Tick) }()
	l.Owner(t).Patch(t, l.path(), `{"status":"halted","reason":"something smells"}`).Is(t, http.StatusNoContent)
	expect.OK(t, <-ticked)
	l.look(t)
	if r := l.rollout(t); r.Status != rollout.Halted || r.EndedBy != "" || r.StagedPercent > 50 {
		t.Errorf("the rollout is %s at %d, ended by %q", r.Status, r.StagedPercent, r.EndedBy)
	}
}

// since returns when the rollout reached its stage.
func since(t *testing.T, l *lead) time.Time {
	t.Helper()
	return l.rollout(t).StageSince
}

func (l *lead) good(t *testing.T) {
	l.fate(chances{fail: 0.002})
	r, v := l.until(t, nil, ended)
	expect.That(t, r.Status == rollout.Completed && r.StagedPercent == 100 && r.Adopted && r.EndedBy == rollout.ByGuard,
		"the rollout is %s at %d: %s", r.Status, r.StagedPercent, v.Sentence)
}

// timeline describes the course of the rollout, by the audit trail.
func (l *lead) timeline(t *testing.T) {
	t.Helper()
	var page struct {
		Items []struct {
			EventTime time.Time
			EventName string
			Actor     struct{ UserID string }
			After     rollout.Rollout
			Cause     struct{ Sentence string }
		}
	}
	l.Owner(t).Get(t, "/api/audit-events?resourceType=rollout&resourceId="+l.id).Into(t, &page)
	for _, e := range slices.Backward(page.Items) {
		t.Logf("%5.1f s  %-6s %-16s at %3d percent  %s", e.EventTime.Sub(l.began).Seconds(), e.Actor.UserID, e.EventName,
			e.After.StagedPercent, e.Cause.Sentence)
	}
	t.Logf("%d boxes got it", l.gotIt())
}
