package ratelimit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// A testLimiter is a limiter on the model, with a clock that the test moves.
type testLimiter struct {
	*Limiter
	model *model
	now   time.Time
}

func newTestLimiter(limits Limits) *testLimiter {
	s := &testLimiter{model: newModel(slotLog), now: epoch}
	s.Limiter = New(Config{Limits: limits, Table: "-", Clock: func() time.Time { return s.now }})
	s.store = s.model
	return s
}

func (s *testLimiter) ask(t *testing.T, c Caller, class Class) Result {
	t.Helper()
	return s.Admit(t.Context(), c, class)
}

func (s *testLimiter) used(key string) int {
	if item := s.model.items[key]; item != nil {
		return int(item.n)
	}
	return 0
}

var (
	ann    = Caller{User: "https://issuer ann", Organization: "acme"}
	bob    = Caller{User: "https://issuer bob", Organization: "acme"}
	box    = Caller{User: "https://fleet gw-1", Organization: "acme", Box: true}
	small  = Limits{User: 3, Organization: 4, CopilotUser: 2, CopilotOrganization: 3}
	orders = []string{userKey(ann.User), organizationKey("acme")}
)

func TestAdmit_UserOverTheLimit_IsNotCountedForTheOrganization(t *testing.T) {
	s := newTestLimiter(small)
	for range 3 {
		if d := s.ask(t, ann, Ordinary); d.Outcome != Admitted || d.Writes != 2 {
			t.Fatalf("got %+v", d)
		}
	}
	writes := s.model.writes
	d := s.ask(t, ann, Ordinary)
	if d.Outcome != Rejected || d.Writes != 1 || s.model.writes != writes+1 {
		t.Errorf("rejected with %+v", d)
	}
	if got := s.used(orders[1]); got != 3 {
		t.Errorf("the organization has used %d", got)
	}
}

func TestAdmit_OrganizationOverTheLimit_GivesTheUserItsCountBack(t *testing.T) {
	s := newTestLimiter(small)
	for _, c := range []Caller{ann, ann, ann, bob} {
		s.ask(t, c, Ordinary)
	}
	d := s.ask(t, bob, Ordinary)
	if d.Outcome != Rejected || s.used(userKey(bob.User)) != 1 {
		t.Errorf("%+v; bob has used %d, want 1", d, s.used(userKey(bob.User)))
	}
	if p := problem.From(d.Err()); p.Code != problem.RateLimited || strings.Join(p.Policies, " ") != "org" || p.RetryAfter != d.RetryAfter {
		t.Errorf("the problem is %+v", p)
	}
}

func TestAdmit_Box_CountsOnlyAgainstItsOwnLimit(t *testing.T) {
	s := newTestLimiter(small)
	if d := s.ask(t, box, Ordinary); d.Outcome != Admitted || len(d.Policies) != 1 || s.used(orders[1]) != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestAdmit_Copilot_CountsAsBothAndNamesEveryExceededPolicy(t *testing.T) {
	s := newTestLimiter(Limits{User: 2, Organization: 9, CopilotUser: 2, CopilotOrganization: 9})
	for range 2 {
		if d := s.ask(t, ann, Copilot); d.Outcome != Admitted || d.Writes != 4 {
			t.Fatalf("got %+v", d)
		}
	}
	d := s.ask(t, ann, Copilot)
	if p := problem.From(d.Err()); strings.Join(p.Policies, " ") != "user copilot-user" {
		t.Errorf("the problem names %q", p.Policies)
	}
	if got := s.used(copilotKey(userKey(ann.User))); got != 2 {
		t.Errorf("%d copilot calls are counted", got)
	}
}

func TestAdmit_CopilotOverTheLimit_IsNotCountedAsOrdinary(t *testing.T) {
	s := newTestLimiter(small)
	for range 5 {
		s.ask(t, ann, Copilot)
	}
	if got := s.used(userKey(ann.User)); got != 2 {
		t.Errorf("%d ordinary calls are counted, want the 2 that were admitted", got)
	}
}

func TestHeader(t *testing.T) {
	s := newTestLimiter(Limits{User: 600, Organization: 6000, CopilotUser: 30, CopilotOrganization: 300})
	d := s.ask(t, ann, Ordinary)
	h := d.Header()
	if got, want := h["RateLimit-Policy"], `"user";q=600;w=60, "org";q=6000;w=60`; len(got) != 1 || got[0] != want {
		t.Errorf("RateLimit-Policy is %q, want %q", got, want)
	}
	if got, want := h["RateLimit"], `"user";r=599;t=61, "org";r=5999;t=61`; len(got) != 1 || got[0] != want {
		t.Errorf("RateLimit is %q, want %q", got, want)
	}
	if h := (Result{Unchecked: errOpen}).Header(); len(h) != 1 || !slices.Equal(h[Unchecked], []string{"?1"}) {
		t.Errorf("an unchecked request has %v", h)
	}
}

// TestMemory_StartsAfterThreeRejections: the first rejections come from the store, so that a raised limit takes effect
// immediately. The later ones of a flood cost no writes, for at most 5 s.
func TestMemory_StartsAfterThreeRejections(t *testing.T) {
	s := newTestLimiter(small)
	for range 3 {
		s.ask(t, ann, Ordinary)
	}
	writes := s.model.writes
	for range 100 {
		s.now = s.now.Add(10 * time.Millisecond)
		if d := s.ask(t, ann, Ordinary); d.Outcome != Rejected {
			t.Fatalf("got %+v", d)
		}
	}
	if got := s.model.writes - writes; got != recallRun {
		t.Errorf("100 rejections took %d writes, want %d", got, recallRun)
	}
	s.model.override(userKey(ann.User), s.now, &counterOverride{Limit: 50})
	s.now = s.now.Add(recallTime)
	if d := s.ask(t, ann, Ordinary); d.Outcome != Admitted {
		t.Errorf("after 5 s: got %+v", d)
	}
}

func TestMemory_EndsWhenAPlaceBecomesFree(t *testing.T) {
	s := newTestLimiter(small)
	for range 3 {
		s.ask(t, ann, Ordinary)
	}
	s.now = s.now.Add(58 * time.Second)
	var d Result
	for range 10 {
		d = s.ask(t, ann, Ordinary)
	}
	s.now = s.now.Add(d.RetryAfter)
	if again := s.ask(t, ann, Ordinary); again.Outcome != Admitted {
		t.Errorf("rejected after waiting %v: %+v", d.RetryAfter, again)
	}
}

func TestMemory_ClockJumpsBack_IsForgotten(t *testing.T) {
	s := newTestLimiter(small)
	for range 10 {
		s.ask(t, ann, Ordinary)
	}
	s.now = s.now.Add(-time.Hour)
	writes := s.model.writes
	s.ask(t, ann, Ordinary)
	if s.model.writes == writes {
		t.Error("the store was not asked")
	}
}

// TestClock_IsTheWallClock: a container's monotonic clock stops while it is frozen, and Go
// compares times by it if both have it.
func TestClock_IsTheWallClock(t *testing.T) {
	for name, clock := range map[string]func() time.Time{"given": time.Now, "missing": nil} {
		if now := New(Config{Clock: clock}).clock().String(); strings.Contains(now, "m=") {
			t.Errorf("%s: the limiter uses %s", name, now)
		}
	}
}

var errDown = errors.New("down")

func TestStoreDown_OrdinaryRequestsAreAdmitted_CopilotRequestsAreNot(t *testing.T) {
	s := newTestLimiter(small)
	s.model.fail = func(string, write) error { return errDown }
	if d := s.ask(t, ann, Ordinary); d.Outcome != Admitted || !errors.Is(d.Unchecked, errDown) || d.Err() != nil {
		t.Errorf("ordinary: %+v", d)
	}
	d := s.ask(t, ann, Copilot)
	if p := problem.From(d.Err()); d.Outcome != Unavailable || p.Code != problem.Unavailable || p.RetryAfter != 5*time.Second {
		t.Errorf("copilot: %+v, %v", d, d.Err())
	}
}

// TestBreaker_OpensAfterThreeFailuresInARow: after three failures in a row the store gets no
// call for 1 to 5 s. The same happens after the first failure that follows.
func TestBreaker_OpensAfterThreeFailuresInARow(t *testing.T) {
	s := newTestLimiter(small)
	s.model.fail = func(string, write) error { return errDown }
	ask := func() (asked bool) {
		writes := s.model.writes
		s.ask(t, ann, Ordinary)
		return s.model.writes > writes
	}
	for i, want := range []bool{true, true, true, false, false} {
		if got := ask(); got != want {
			t.Errorf("request %d: asked the store: %v", i, got)
		}
	}
	s.now = s.now.Add(breakerLongest)
	if !ask() || ask() {
		t.Error("after 5 s the store does not get exactly one call")
	}
	s.now = s.now.Add(breakerLongest)
	s.model.fail = nil
	for range 3 {
		if d := s.ask(t, bob, Ordinary); d.Unchecked != nil {
			t.Errorf("the store works, got %+v", d)
		}
	}
}

func TestBreaker_CallerLeft_IsNotAFailureOfTheStore(t *testing.T) {
	s := newTestLimiter(small)
	s.model.fail = func(string, write) error { return errDown }
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		s.Admit(gone, ann, Ordinary)
	}
	if s.breaker.open(s.now) {
		t.Error("the breaker is open")
	}
}

func TestSettings_Defaults(t *testing.T) {
	r := setting.NewValues(setting.Limits...)
	s := ReadSettings(r)
	if want := (Settings{Limits: Limits{600, 6000, 30, 300}, Deadline: 100 * time.Millisecond}); r.Err() != nil || s != want {
		t.Errorf("got %+v, %v", s, r.Err())
	}
}

func TestSettings_Contradictory_AreRefused(t *testing.T) {
	for name, env := range map[string]map[setting.Name]string{
		"not a number":                          {setting.LimitUser: "many"},
		"nothing":                               {setting.LimitUser: "0"},
		"more than an item may hold":            {setting.LimitOrganization: "30001"},
		"a user limit above the organization's": {setting.LimitUser: "7000"},
		"copilot limit above the user's":        {setting.LimitCopilotUser: "601", setting.LimitCopilotOrganization: "1000"},
		"copilot limit above the ordinary one":  {setting.LimitCopilotUser: "301"},
		"a deadline of minutes":                 {setting.LimitDeadlineMS: "60000"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range env {
				t.Setenv(string(k), v)
			}
			r := setting.NewValues(setting.Limits...)
			if s := ReadSettings(r); r.Err() == nil {
				t.Errorf("accepted as %+v", s)
			}
		})
	}
}
