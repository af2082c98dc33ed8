package ratelimit

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
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

// admitted makes calls that are all admitted.
func (s *testLimiter) admitted(t *testing.T, class Class, callers ...Caller) {
	t.Helper()
	for _, c := range callers {
		expect.Equal(t, s.ask(t, c, class).Outcome, Admitted, "%s of %s is", class, c.User)
	}
}

// An answer is what a test compares of a result.
type answer struct {
	Outcome  Ruling
	Exceeded string // the policies in the problem
	Writes   int
}

func answerOf(d Result) answer {
	return answer{d.Outcome, strings.Join(problem.From(d.Err()).Policies, " "), d.Writes}
}

var (
	ann      = Caller{User: "https://issuer ann", Organization: "acme"}
	bob      = Caller{User: "https://issuer bob", Organization: "acme"}
	box      = Caller{User: "https://fleet gw-1", Organization: "acme", Box: true}
	small    = Limits{User: 3, Organization: 4, CopilotUser: 2, CopilotOrganization: 3}
	standard = Limits{User: 600, Organization: 6000, CopilotUser: 30, CopilotOrganization: 300}
	orders   = []string{userKey(ann.User), organizationKey("acme")}
)

func TestAdmit_CountsAgainstEachLimitOfTheCaller_IfAllHaveAPlace(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		class  Class
		before []Caller // whose calls are admitted
		caller Caller
		want   answer
		used   map[string]int
	}{
		"a user under both limits":                              {small, Ordinary, nil, ann, answer{Admitted, "", 2}, map[string]int{orders[0]: 1, orders[1]: 1}},
		"over the user's limit, the organization has no count":  {small, Ordinary, []Caller{ann, ann, ann}, ann, answer{Rejected, "user", 1}, map[string]int{orders[0]: 3, orders[1]: 3}},
		"over the organization's, the user gets its count back": {small, Ordinary, []Caller{ann, ann, ann, bob}, bob, answer{Rejected, "org", 3}, map[string]int{userKey(bob.User): 1, orders[1]: 4}},
		"a box has its own limit only":                          {small, Ordinary, nil, box, answer{Admitted, "", 1}, map[string]int{orders[1]: 0}},
		"the assistant counts as both": {Limits{User: 2, Organization: 9, CopilotUser: 2, CopilotOrganization: 9}, Copilot, nil, ann,
			answer{Admitted, "", 4}, map[string]int{orders[0]: 1, copilotKey(orders[0]): 1}},
		"each limit that is exceeded is named": {Limits{User: 2, Organization: 9, CopilotUser: 2, CopilotOrganization: 9}, Copilot, []Caller{ann, ann}, ann,
			answer{Rejected, "user copilot-user", 2}, map[string]int{copilotKey(orders[0]): 2}},
		"over the assistant's limit, nothing else has a count": {small, Copilot, []Caller{ann, ann}, ann,
			answer{Rejected, "copilot-user", 3}, map[string]int{orders[0]: 2, copilotKey(orders[0]): 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestLimiter(c.limits)
			s.admitted(t, c.class, c.before...)
			writes := s.model.writes
			d := s.ask(t, c.caller, c.class)
			expect.Equal(t, answerOf(d), c.want, "the answer")
			expect.Equal(t, s.model.writes-writes, c.want.Writes, "the number of writes is")
			for key, want := range c.used {
				expect.Equal(t, s.used(key), want, "the count of %s is", key)
			}
			if p := problem.From(d.Err()); d.Outcome == Rejected && (p.Code != problem.RateLimited || p.RetryAfter != d.RetryAfter) {
				t.Errorf("the problem is %+v", p)
			}
		})
	}
}

func TestHeader_EachPolicy_IsNamed(t *testing.T) {
	want := http.Header{
		"RateLimit-Policy": {`"user";q=600;w=60, "org";q=6000;w=60`},
		"RateLimit":        {`"user";r=599;t=61, "org";r=5999;t=61`},
	}
	expect.Equal(t, newTestLimiter(standard).ask(t, ann, Ordinary).Header(), want, "the header of a request")
	expect.Equal(t, (Result{Unchecked: errOpen}).Header(), http.Header{Unchecked: {"?1"}}, "that of an unchecked one")
}

// TestMemory_StartsAfterThreeRejections: the first rejections come from the store, so that a raised limit takes effect
// immediately. The later ones of a flood cost no writes, for at most 5 s.
func TestMemory_StartsAfterThreeRejections(t *testing.T) {
	s := newTestLimiter(small)
	s.admitted(t, Ordinary, ann, ann, ann)
	writes := s.model.writes
	for range 100 {
		s.now = s.now.Add(10 * time.Millisecond)
		expect.Equal(t, s.ask(t, ann, Ordinary).Outcome, Rejected, "a call of the flood is")
	}
	expect.Equal(t, s.model.writes-writes, recallRun, "100 rejections take this many writes:")
	s.model.override(userKey(ann.User), s.now, &counterOverride{Limit: 50})
	s.now = s.now.Add(recallTime)
	s.admitted(t, Ordinary, ann) // after 5 s
}

func TestMemory_EndsWhenAPlaceBecomesFree(t *testing.T) {
	s := newTestLimiter(small)
	s.admitted(t, Ordinary, ann, ann, ann)
	s.now = s.now.Add(58 * time.Second)
	var d Result
	for range 10 {
		d = s.ask(t, ann, Ordinary)
	}
	s.now = s.now.Add(d.RetryAfter)
	s.admitted(t, Ordinary, ann)
}

func TestMemory_ClockJumpsBack_IsForgotten(t *testing.T) {
	s := newTestLimiter(small)
	for range 10 {
		s.ask(t, ann, Ordinary)
	}
	s.now = s.now.Add(-time.Hour)
	writes := s.model.writes
	s.ask(t, ann, Ordinary)
	expect.That(t, s.model.writes != writes, "the store was not asked")
}

// TestClock_IsTheWallClock: a container's monotonic clock stops while it is frozen, and Go
// compares times by it if both have it.
func TestClock_IsTheWallClock(t *testing.T) {
	for name, clock := range map[string]func() time.Time{"given": time.Now, "missing": nil} {
		now := New(Config{Clock: clock}).clock().String()
		expect.That(t, !strings.Contains(now, "m="), "%s: the limiter uses %s", name, now)
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
	expect.Equal(t, d.Outcome, Unavailable, "copilot is")
	p := problem.From(d.Err())
	expect.Equal(t, p.Code, problem.Unavailable, "its problem is")
	expect.Equal(t, p.RetryAfter, 5*time.Second, "it is told to wait")
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
		expect.Equal(t, ask(), want, "request %d: asked the store", i)
	}
	s.now = s.now.Add(breakerLongest)
	expect.Equal(t, ask(), true, "after 5 s, asked the store")
	expect.Equal(t, ask(), false, "and at once again")
	s.now = s.now.Add(breakerLongest)
	s.model.fail = nil
	for range 3 {
		d := s.ask(t, bob, Ordinary)
		expect.That(t, d.Unchecked == nil, "the store works, got %+v", d)
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
	expect.That(t, !s.breaker.open(s.now), "the breaker is open")
}

func TestSettings_Defaults(t *testing.T) {
	r := setting.NewValues(setting.Limits...)
	want := Settings{Limits: standard, Deadline: 100 * time.Millisecond}
	want.Boxes = 600_000
	expect.Equal(t, ReadSettings(r), want, "the settings")
	expect.OK(t, r.Err())
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
			s := ReadSettings(r)
			expect.That(t, r.Err() != nil, "accepted as %+v", s)
		})
	}
}
