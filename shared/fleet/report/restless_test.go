package report_test

import (
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestNext_ABoxThatNamesTwoVersionsInTurns_IsRestless: two boards with one id do so at each poll. A board that falls back
// takes minutes to install again.
func TestNext_ABoxThatNamesTwoVersionsInTurns_IsRestless(t *testing.T) {
	for every, want := range map[time.Duration]bool{30 * time.Second: true, 5 * time.Minute: false} {
		row, at := report.Row{EdgeID: "box-1"}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
		for n, running := range []string{"1.0.0", "2.0.0", "1.0.0", "2.0.0", "1.0.0"} {
			at = at.Add(every)
			row, _ = report.Next(row, report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 1, Running: running, At: at})
			if restless := row.Restless != nil; restless != (want && n == 4) {
				t.Errorf("each %s: after %d polls it is restless: %t", every, n+1, restless)
			}
		}
	}
}

// TestNext_ABoxThatPollsTooOften_IsRestlessUntilItHasNotForADay: a poll that says nothing new is written once an hour.
func TestNext_ABoxThatPollsTooOften_IsRestlessUntilItHasNotForADay(t *testing.T) {
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	row := report.Row{EdgeID: "box-1", EdgeType: "gateway-x", Offer: &report.Offer{Version: "1.0.0", State: report.Working}}
	calls := map[bool]int{true: 1}
	for _, c := range []struct {
		after             time.Duration
		often             bool
		changed, restless bool
	}{
		{0, false, true, false}, {time.Minute, true, true, true}, {2 * time.Minute, true, false, true}, {2 * time.Hour, true, true, true},
		{25 * time.Hour, false, false, true}, {26 * time.Hour, false, true, false}, {27 * time.Hour, false, false, false},
	} {
		next, changed := report.Next(row, report.Polled{Told: "1.0.0", Every: time.Minute, Calls: slices.Repeat([]time.Time{start.Add(c.after)}, 60*calls[c.often]), At: start.Add(c.after)})
		expect.Equal(t, []bool{changed, next.Restless != nil}, []bool{c.changed, c.restless}, "after %s it is written, and restless:", c.after)
		e := expect.Value(report.IndexEntryOf(next.Entry().StateKey()))(t)
		expect.Equal(t, []bool{e.Restless, e.Aside(start)}, []bool{c.restless, false}, "after %s the index says:", c.after)
		row = next
	}
}

func TestTooOften_TenTimesAsToldAndOnceASecond(t *testing.T) {
	for _, c := range []struct {
		calls int
		told  time.Duration
		want  bool
	}{{59, time.Minute, false}, {60, time.Minute, true}, {60, 5 * time.Minute, true}, {100, 2 * time.Second, false}, {600, time.Second, true}} {
		expect.Equal(t, report.TooOften(c.calls, c.told), c.want, "%d calls a minute, told %s:", c.calls, c.told)
	}
}
