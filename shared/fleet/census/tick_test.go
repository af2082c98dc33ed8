package census_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

func TestPlan_OldestFirst_AndNothingTwice(t *testing.T) {
	candidate := func(id string, ago time.Duration) census.Candidate {
		c := census.Candidate{Rollout: rollout.Rollout{ID: id}}
		if ago != 0 {
			c.Begun = noon.Add(-ago)
		}
		return c
	}
	completed := func(id string, ago time.Duration) census.Candidate {
		c := candidate(id, ago)
		c.Status = rollout.Completed
		return c
	}
	plan := census.Plan([]census.Candidate{
		completed("completed, nine minutes", 9*time.Minute), completed("completed, eleven minutes", 11*time.Minute),
		candidate("a minute", time.Minute), candidate("a moment", time.Second), candidate("never", 0),
		candidate("an hour", time.Hour), candidate("ahead", -time.Hour), candidate("also never", 0),
	}, noon, 30*time.Second)
	var order []string
	for _, c := range plan {
		order = append(order, c.ID)
	}
	want := []string{"also never", "never", "an hour", "completed, eleven minutes", "a minute", "ahead"}
	expect.That(t, slices.Equal(order, want), "got %q, want %q", order, want)
}

// TestPlan_CountThatNeverEnds_KeepsNobodyFromTheirTurn: each tick has time for one count, and one rollout is too large
// to be counted in that time.
func TestPlan_CountThatNeverEnds_KeepsNobodyFromTheirTurn(t *testing.T) {
	begun := map[string]time.Time{"large": {}, "b": {}, "c": {}}
	turns := map[string]int{}
	for minute := range 9 {
		now := noon.Add(time.Duration(minute) * time.Minute)
		var all []census.Candidate
		for id, at := range begun {
			all = append(all, census.Candidate{Rollout: rollout.Rollout{ID: id}, Begun: at})
		}
		first := census.Plan(all, now, 30*time.Second)[0].ID
		begun[first] = now
		turns[first]++
	}
	for id, n := range turns {
		expect.That(t, n == 3, "%s had %d of 9 turns", id, n)
	}
}

func TestHour_OneMomentAMinute_InOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var hour census.Hour
		minutes := map[int]bool{}
		for range rapid.IntRange(0, 100).Draw(t, "moments") {
			second := rapid.IntRange(0, 3599).Draw(t, "second")
			before := hour
			next, changed := hour.With(census.Snapshot{At: noon.Add(time.Duration(second) * time.Second), Silent: second})
			expect.Must(t, changed != minutes[second/60] && len(before.Moments) == len(minutes),
				"second %d: changed is %t", second, changed)
			minutes[second/60] = true
			hour = next
		}
		if len(hour.Moments) != len(minutes) || len(hour.Moments) > 60 || int(hour.Revision) != len(minutes) {
			t.Fatalf("%d moments of %d minutes", len(hour.Moments), len(minutes))
		}
		expect.Must(t, slices.IsSortedFunc(hour.Moments, func(a, b census.Snapshot) int { return a.At.Compare(b.At) }),
			"out of order: %v", hour.Moments)
	})
}

func TestHourPart_ItsOrderIsThatOfTime(t *testing.T) {
	expect.Equal(t, census.HourPart(noon.Add(59*time.Minute)), "hour#2026-03-01T12", "got")
	expect.That(t, census.HourPart(noon) < census.HourPart(noon.Add(time.Hour)), "a later hour does not come later")
}
