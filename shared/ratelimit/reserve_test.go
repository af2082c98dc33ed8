package ratelimit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestReserve_HaltAfterTheLimit_IsAdmittedInTheSameInstant(t *testing.T) {
	s := newTestLimiter(standard)
	s.admitted(t, Ordinary, slices.Repeat([]Caller{ann}, 600)...)
	expect.Equal(t, s.ask(t, ann, Ordinary).Outcome, Rejected, "beyond the limit, a call is")
	s.admitted(t, Reserved, slices.Repeat([]Caller{ann}, reserve)...)
	d := s.ask(t, ann, Reserved)
	expect.Equal(t, answerOf(d), answer{Rejected, "user reserve", 1}, "beyond the reserve, it")
	expect.Equal(t, s.ask(t, ann, Ordinary).Outcome, Rejected, "a call that may not use the reserve is")
	s.now = s.now.Add(d.RetryAfter)
	s.admitted(t, Reserved, ann)
}

// TestReserve_HasAPlaceBeforeTheLimits_NamesItsSecond: the limit is 0, and the reserve was used up half a minute ago.
func TestReserve_HasAPlaceBeforeTheLimits_NamesItsSecond(t *testing.T) {
	s := newTestLimiter(small)
	s.model.override(orders[0], s.now, &counterOverride{Limit: 0})
	s.admitted(t, Reserved, slices.Repeat([]Caller{ann}, reserve)...)
	s.now = s.now.Add(30 * time.Second)
	expect.Equal(t, s.ask(t, ann, Reserved).RetryAfter, 31*time.Second, "it is told to wait")
}

func TestReserve_UnderTheLimit_IsNotUsed(t *testing.T) {
	s := newTestLimiter(small)
	expect.Equal(t, answerOf(s.ask(t, ann, Reserved)), answer{Admitted, "", 2}, "the answer")
	expect.Equal(t, s.used(orders[0]), 1, "the user has used")
	expect.Equal(t, s.used(reserveOf(ann).key), 0, "of the reserve, it has used")
}

func TestReserve_OrganizationOverTheLimit_GivesTheUserItsCountBack(t *testing.T) {
	s := newTestLimiter(small)
	s.admitted(t, Ordinary, ann, ann, ann, bob)
	d := s.ask(t, bob, Reserved)
	expect.Equal(t, d.Outcome, Admitted, "the call is")
	expect.Equal(t, s.used(userKey(bob.User)), 1, "bob has used")
	expect.Equal(t, s.used(reserveOf(bob).key), 1, "of the reserve, bob has used")
	if got := d.Header()["RateLimit"][0]; !strings.Contains(got, `"org";r=0`) || !strings.Contains(got, `"reserve";r=59`) {
		t.Errorf("RateLimit is %s", got)
	}
}

func TestReserve_OwnOrganizationHasLimitZero_OverrideCanStillBeRemoved(t *testing.T) {
	s := newTestLimiter(small)
	s.model.override(orders[1], s.now, &counterOverride{Limit: 0})
	for range 10 { // the container then remembers the rejection
		d := s.ask(t, ann, Ordinary)
		expect.Equal(t, d.Outcome, Rejected, "the call is")
		says := problem.From(d.Err()).Detail
		expect.That(t, !strings.Contains(says, "Try again in"), "a place is promised: %s", says)
	}
	s.admitted(t, Reserved, ann)
}

// TestReserve_UsedUpInAFlood_IsRemembered: rejections of a flood cost no more writes than for
// other calls.
func TestReserve_UsedUpInAFlood_IsRemembered(t *testing.T) {
	s := newTestLimiter(small)
	for range 3 + reserve {
		s.ask(t, ann, Reserved)
	}
	for range recallRun {
		s.ask(t, ann, Reserved)
	}
	writes := s.model.writes
	for range 100 {
		d, known := s.Recall(ann, Reserved)
		expect.Must(t, known && d.Outcome == Rejected, "got %+v, %v", d, known)
	}
	expect.Equal(t, s.model.writes, writes, "%d writes", s.model.writes-writes)
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
			containers[i] = New(Config{Limits: Limits{User: limit, Organization: highest}, Table: "-", Clock: func() time.Time { return now }})
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
					if class == Reserved && within(window+slotLog.slot, all) < reserve {
						t.Fatalf("refused although the reserve has a place")
					}
					expect.Must(t, d.RetryAfter >= time.Second && d.RetryAfter <= 61*time.Second,
						"Retry-After is %v", d.RetryAfter)
					continue
				}
				all = append(all, now)
				if class == Ordinary {
					ordinary = append(ordinary, now)
				}
				if within(window, all) > limit+reserve || within(window, ordinary) > limit {
					t.Fatalf("%d calls, %d of them ordinary, were admitted in 60 s; the limit is %d", within(window, all), within(window, ordinary), limit)
				}
			}
		}
	})
}
