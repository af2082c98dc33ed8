package census_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
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

func TestSentence_EveryRule(t *testing.T) {
	telling := census.Telling{Version: "1.0.0", Channel: "stable", Target: "1.1.0", Status: "halted", Runs: "1.1.0", StagedPercent: 50, Percentile: 63, ReachedAt: 100, Withheld: "1.1.0",
		Towards: "3.0.0", Running: "0.9.0", Then: "Told 3.0.0: it is published.",
		Pin:  &report.Pin{Reason: "acceptance test.", Until: noon, By: audit.Person{UserID: "anna"}},
		Hold: &report.Hold{Since: noon, By: audit.Person{UserID: "anna"}}}
	want := map[census.Rule]string{
		census.RulePin: "Told 1.0.0: anna pinned it until " + noon.Format(time.RFC3339) + ": acceptance test.",
		census.RuleHold: "Told 1.0.0: it runs that version, anna moved or unpinned it at " + noon.Format(time.RFC3339) + ", and stable has an older release for it. " +
			"A publication there, or allowDowngrade, sends it back.",
		census.RuleStone:           "Told 1.0.0 first: it runs 0.9.0, and 3.0.0 requires that it passes 1.0.0. After that: Told 3.0.0: it is published.",
		census.RuleRequiresUnknown: "Told 1.0.0, and stays on it: 3.0.0 requires an earlier release, and the box does not say what it runs. After that: Told 3.0.0: it is published.",
		census.RuleNothing:         "Told nothing: nothing is published on stable.",
		census.RuleRollout:         "Told 1.0.0: its percentile is 63 and rollout 1.1.0 on stable is at 50 percent.",
		census.RuleNotReached:      "Told 1.0.0: its percentile is 63 and rollout 1.1.0 on stable is at 50 percent; it is reached at 100.",
		census.RuleKept:            "Told 1.0.0: it runs that version from a rollout on stable, and only a publication or a return sends a box back.",
		census.RuleReturned:        "Told 1.0.0: it runs 1.1.0, and the rollout on stable that brought it that version was returned.",
		census.RuleLeftOut:         "Told 1.0.0: rollout 1.1.0 on stable leaves out the box's organization.",
		census.RuleStopped:         "Told 1.0.0: rollout 1.1.0 on stable tells no more boxes until a person goes on with it.",
		census.RuleEnded:           "Told 1.0.0: rollout 1.1.0 on stable is halted at 50 percent and reaches no more boxes.",
		census.RuleChannel:         "Told 1.0.0: it is published on stable and no rollout is active there.",
		census.RuleUndescribed: "Told nothing new: release 1.1.0 was published without sizeBytes and sha1, which the box's DDI client needs; " +
			"publish it again with both.",
		census.RuleWaits: "Told 1.0.0, which it has: its plant munich-1 pauses: stocktaking. It opens next: " + noon.Format(time.RFC3339) + ". Then: Told 3.0.0: it is published.",
	}
	telling.Plant, telling.Reason, telling.Wait = "munich-1", "stocktaking.", calendar.Wait{For: calendar.ForPause, Opens: noon}
	for _, rule := range census.Rules {
		telling.Rule = rule
		got := telling.Sentence()
		expect.That(t, got == want[rule] && strings.Count(got, ".") >= 1, "%s: %q", rule, got)
	}
	expect.That(t, len(want) == len(census.Rules), "%d rules, %d sentences", len(census.Rules), len(want))
}
