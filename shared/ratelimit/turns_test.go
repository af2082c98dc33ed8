package ratelimit

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
)

// TestTurns_EveryoneWhoWaitsAsTold_IsAdmitted: an organization uses up its limit in any way, and more callers are
// rejected. If each comes back exactly when told to, each is admitted. Only callers who are told the longest wait,
// because two minutes have no place for them, might be rejected.
func TestTurns_EveryoneWhoWaitsAsTold_IsAdmitted(t *testing.T) {
	waited := 0
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 200).Draw(t, "limit")
		s := newTestLimiter(Limits{User: highest, Organization: limit})
		s.now = s.now.Add(time.Duration(rapid.IntRange(0, 999).Draw(t, "begin")) * time.Millisecond)
		full := func() bool {
			it := s.model.read(s.model.items[organizationKey("acme")])
			return slotLog.used(it, slotLog.at(s.now)) >= limit
		}
		callers := 0
		ask := func() Result { // each time another person
			callers++
			return s.Admit(t.Context(), Caller{User: fmt.Sprint("https://issuer ", callers), Organization: "acme"}, Ordinary)
		}
		gap := rapid.IntRange(0, 59_000/limit).Draw(t, "gap")
		for !full() {
			ask()
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, gap).Draw(t, "pause")) * time.Millisecond)
			if !full() && rapid.IntRange(0, 9).Draw(t, "burst") == 0 {
				for range limit / 4 {
					ask()
				}
			}
		}
		var turns []time.Time
		for range rapid.IntRange(1, 2*limit).Draw(t, "rejected") {
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "pause")) * time.Millisecond)
			if !full() {
				break // a newcomer would take a place that was promised
			}
			d := ask()
			if d.Outcome != Rejected || d.RetryAfter < time.Second || d.RetryAfter > slotLog.patience || d.RetryAfter%time.Second != 0 {
				t.Fatalf("the limit is used up: %+v", d)
			}
			if d.RetryAfter < slotLog.patience {
				turns = append(turns, s.now.Add(d.RetryAfter))
			} else if len(turns) < limit/2 {
				t.Fatalf("after %d turns, of a limit of %d, there is none left", len(turns), limit)
			}
		}
		slices.SortFunc(turns, time.Time.Compare)
		for i, turn := range turns {
			s.now = turn
			d := ask()
			expect.Must(t, d.Outcome == Admitted, "turn %d of %d is refused: %+v", i, len(turns), d)
			waited++
		}
	})
	t.Logf("%d callers waited as told", waited)
}

// TestTurns_LimitUsedUpAtOnce_IsSpreadOverTheNextWindow: the more are waiting, the further they are spread.
func TestTurns_LimitUsedUpAtOnce_IsSpreadOverTheNextWindow(t *testing.T) {
	for rejected, longest := range map[int]time.Duration{1: 64 * time.Second, 40: 68 * time.Second, 300: 94 * time.Second, 560: slotLog.patience} {
		s := newTestLimiter(Limits{User: highest, Organization: 600})
		for range 600 {
			s.ask(t, ann, Ordinary)
		}
		told := map[time.Duration]int{}
		for i := range rejected {
			told[s.ask(t, Caller{User: fmt.Sprint("https://issuer ", i), Organization: "acme"}, Ordinary).RetryAfter]++
		}
		for wait, n := range told {
			expect.That(t, wait >= 61*time.Second && wait <= longest && n <= 10,
				"%d rejected: %d are told %v", rejected, n, wait)
		}
	}
}

// TestTurns_ACallerWhoDoesNotWait_LeavesTheOthersTheirs: one program asks a thousand times while the limit is used up.
func TestTurns_ACallerWhoDoesNotWait_LeavesTheOthersTheirs(t *testing.T) {
	s := newTestLimiter(Limits{User: highest, Organization: 600})
	for range 600 {
		s.ask(t, ann, Ordinary)
	}
	for range 1000 {
		d := s.ask(t, bob, Ordinary)
		expect.Must(t, d.Outcome == Rejected && d.RetryAfter <= 68*time.Second, "the one who does not wait: %+v", d)
		s.now = s.now.Add(7 * time.Millisecond)
	}
	for i := range 40 {
		d := s.ask(t, Caller{User: fmt.Sprint("https://issuer ", i), Organization: "acme"}, Ordinary)
		expect.That(t, d.RetryAfter <= 68*time.Second, "person %d is told %v", i, d.RetryAfter)
	}
}

// TestTurns_OtherSubjects_TakeNobodysTurn: callers of another organization are told theirs in between, and still the places of
// two minutes are given away once.
func TestTurns_OtherSubjects_TakeNobodysTurn(t *testing.T) {
	s, last := newTestLimiter(Limits{User: highest, Organization: 60}), map[string]time.Duration{}
	for i := range 150 {
		for _, organization := range []string{"acme", "rival"} {
			d := s.ask(t, Caller{User: fmt.Sprint("https://issuer ", organization, i), Organization: organization}, Ordinary)
			last[organization] = d.RetryAfter
		}
	}
	expect.Equal(t, last, map[string]time.Duration{"acme": slotLog.patience, "rival": slotLog.patience}, "the last are told to wait")
}

// TestTurns_OwnLimit_NamesTheExactSecond: nobody shares it.
func TestTurns_OwnLimit_NamesTheExactSecond(t *testing.T) {
	s := newTestLimiter(Limits{User: 4, Organization: 1000})
	for n := range 100 {
		if d := s.ask(t, ann, Ordinary); n >= 4 && d.RetryAfter != 61*time.Second {
			t.Fatalf("Retry-After is %v", d.RetryAfter)
		}
	}
}
