package ratelimit

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/problem"
)

func TestReserve_HaltAfterTheLimit_IsAdmittedInTheSameInstant(t *testing.T) {
	s := newTestLimiter(Limits{User: 600, Organization: 6000, CopilotUser: 30, CopilotOrganization: 300})
	for range 600 {
		s.ask(t, ann, Ordinary)
	}
	if d := s.ask(t, ann, Ordinary); d.Outcome != Rejected {
		t.Fatalf("the limit is not reached: %+v", d)
	}
	for i := range Reserve {
		if d := s.ask(t, ann, Reserved); d.Outcome != Admitted || d.Err() != nil {
			t.Fatalf("halt %d: %+v", i, d)
		}
	}
	d := s.ask(t, ann, Reserved)
	if p := problem.From(d.Err()); d.Outcome != Rejected || strings.Join(p.Policies, " ") != "user reserve" {
		t.Errorf("beyond the reserve: %+v, %v", d, d.Err())
	}
	if d := s.ask(t, ann, Ordinary); d.Outcome != Rejected {
		t.Errorf("a call outside the reserve's operations was admitted from it: %+v", d)
	}
	s.now = s.now.Add(d.RetryAfter)
	if d := s.ask(t, ann, Reserved); d.Outcome != Admitted {
		t.Errorf("after the wait: %+v", d)
	}
}

func TestReserve_UnderTheLimit_IsNotUsed(t *testing.T) {
	s := newTestLimiter(small)
	d := s.ask(t, ann, Reserved)
	if d.Outcome != Admitted || d.Writes != 2 || s.used(orders[0]) != 1 || s.used(reserveOf(ann).key) != 0 {
		t.Errorf("got %+v; used are %d and %d", d, s.used(orders[0]), s.used(reserveOf(ann).key))
	}
}

func TestReserve_OrganizationOverTheLimit_GivesTheUserItsCountBack(t *testing.T) {
	s := newTestLimiter(small)
	for _, c := range []Caller{ann, ann, ann, bob} {
		s.ask(t, c, Ordinary)
	}
	d := s.ask(t, bob, Reserved)
	if d.Outcome != Admitted || s.used(userKey(bob.User)) != 1 || s.used(reserveOf(bob).key) != 1 {
		t.Errorf("%+v; bob has used %d and %d of the reserve, want 1 and 1", d, s.used(userKey(bob.User)), s.used(reserveOf(bob).key))
	}
	if got := d.Header()["RateLimit"][0]; !strings.Contains(got, `"org";r=0`) || !strings.Contains(got, `"reserve";r=59`) {
		t.Errorf("RateLimit is %s", got)
	}
}

func TestReserve_OwnOrganizationHasLimitZero_OverrideCanStillBeRemoved(t *testing.T) {
	s := newTestLimiter(small)
	s.model.override(orders[1], s.now, &counterOverride{Limit: 0})
	for range 10 { // the container then remembers the rejection
		d := s.ask(t, ann, Ordinary)
		if d.Outcome != Rejected {
			t.Fatalf("got %+v", d)
		}
		if says := problem.From(d.Err()).Detail; strings.Contains(says, "Try again in") {
			t.Errorf("a place is promised: %s", says)
		}
	}
	if d := s.ask(t, ann, Reserved); d.Outcome != Admitted {
		t.Errorf("got %+v", d)
	}
}

// TestReserve_UsedUpInAFlood_IsRemembered: rejections of a flood cost no more writes than for
// other calls.
func TestReserve_UsedUpInAFlood_IsRemembered(t *testing.T) {
	s := newTestLimiter(small)
	for range 3 + Reserve {
		s.ask(t, ann, Reserved)
	}
	for range recallRun {
		s.ask(t, ann, Reserved)
	}
	writes := s.model.writes
	for range 100 {
		if d, known := s.Recall(ann, Reserved); !known || d.Outcome != Rejected {
			t.Fatalf("got %+v, %v", d, known)
		}
	}
	if s.model.writes != writes {
		t.Errorf("%d writes", s.model.writes-writes)
	}
}

// TestReserve_Properties: in any 60 s, at most L calls that may not use the reserve are
// admitted, and at most L + 60 calls in total.
func TestReserve_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 80).Draw(t, "limit")
		now := epoch
		shared := newModel(slotLog)
		if rapid.Bool().Draw(t, "arranged") {
			shared.override(orders[0], now, &counterOverride{Limit: limit})
		}
		containers := make([]*Limiter, rapid.IntRange(1, 4).Draw(t, "containers"))
		for i := range containers {
			containers[i] = New(Config{Limits: Limits{User: limit, Organization: Highest}, Table: "-", Clock: func() time.Time { return now }})
			containers[i].store = shared
		}
		var all, ordinary []time.Time
		within := func(span time.Duration, times []time.Time) (n int) {
			for _, at := range times {
				if now.Sub(at) < span {
					n++
				}
			}
			return n
		}
		for range 40 {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 499, 3000, 20_000, 60_000}).Draw(t, "gap")) * time.Millisecond)
			class := rapid.SampledFrom([]Class{Ordinary, Reserved, Reserved}).Draw(t, "class")
			for range rapid.IntRange(1, 50).Draw(t, "burst") {
				d := containers[rapid.IntRange(0, len(containers)-1).Draw(t, "container")].Admit(t.Context(), ann, class)
				if d.Outcome != Admitted {
					if class == Reserved && within(Window+slotLog.slot, all) < Reserve {
						t.Fatalf("refused although the reserve has a place")
					}
					if d.RetryAfter < time.Second || d.RetryAfter > 61*time.Second {
						t.Fatalf("Retry-After is %v", d.RetryAfter)
					}
					continue
				}
				all = append(all, now)
				if class == Ordinary {
					ordinary = append(ordinary, now)
				}
				if within(Window, all) > limit+Reserve || within(Window, ordinary) > limit {
					t.Fatalf("%d calls, %d of them ordinary, were admitted in 60 s; the limit is %d", within(Window, all), within(Window, ordinary), limit)
				}
			}
		}
	})
}
