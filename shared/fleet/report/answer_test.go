package report_test

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestReply_BacksOff_AndEndsAfterThreeAttempts(t *testing.T) {
	for attempt, want := range map[int][2]time.Duration{1: {5 * time.Minute, 375 * time.Second}, 2: {time.Hour, 75 * time.Minute}} {
		differ := map[time.Duration]bool{}
		for i := range 200 {
			o := report.Outcome{Version: "2.0.0", Attempt: attempt, State: report.Failed, Code: report.CodeBoot, At: later}
			row := offered(report.Offered)
			row.EdgeID = fmt.Sprintf("box-%d", i)
			row, _ = report.Next(row, o)
			answer := report.Reply(row, o)
			if answer.GiveUp || answer.RetryAfter < want[0] || answer.RetryAfter > want[1] {
				t.Fatalf("attempt %d: %+v, want from %v to %v", attempt, answer, want[0], want[1])
			}
			again := report.Reply(row, o)
			expect.Must(t, again == answer, "the repeated report is answered with %+v after %+v", again, answer)
			differ[answer.RetryAfter] = true
		}
		expect.That(t, len(differ) >= 150, "200 boxes that failed together wait %d different times", len(differ))
	}
	for _, attempt := range []int{3, 4, 1000} {
		o := report.Outcome{Version: "2.0.0", Attempt: attempt, State: report.Failed, Code: report.CodeBoot, At: later}
		row, _ := report.Next(offered(report.Offered), o)
		answer := report.Reply(row, o)
		expect.That(t, answer.GiveUp, "attempt %d: %+v", attempt, answer)
	}
}

func TestReply_LostCounter_DoesNotStartOver(t *testing.T) {
	o := report.Outcome{Version: "2.0.0", Attempt: 3, State: report.Failed, Code: report.CodeBoot, At: later}
	row, _ := report.Next(offered(report.Offered), o)
	o.Attempt = 1
	row, changed := report.Next(row, o)
	answer := report.Reply(row, o)
	expect.That(t, !changed && answer.GiveUp, "attempt 1 after 3 is answered with %+v", answer)
}

func TestReply_WorkingAndDeferred(t *testing.T) {
	in := func(d time.Duration) *time.Time { at := later.Add(d); return &at }
	for name, c := range map[string]struct {
		state report.State
		until *time.Time
		want  time.Duration
	}{
		"working continues immediately":     {report.Working, nil, 0},
		"a deferral without an end":         {report.Deferred, nil, time.Hour},
		"a deferral with an end":            {report.Deferred, in(2 * time.Hour), 2 * time.Hour},
		"a deferral that has ended already": {report.Deferred, in(-time.Hour), time.Minute},
		"a very long deferral":              {report.Deferred, in(1000 * time.Hour), 24 * time.Hour},
	} {
		o := report.Outcome{Version: "2.0.0", Attempt: 1, State: c.state, Until: c.until, At: later}
		got := report.Reply(offered(report.Offered), o)
		expect.That(t, got == (report.Advice{RetryAfter: c.want}), "%s: %+v", name, got)
	}
}

func TestSilent_WhoCameToItsStandLongAgo_AndWasNotSeenSince(t *testing.T) {
	after := report.SilentAfter(time.Minute)
	now := noon.Add(time.Hour)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, c := range map[string]struct {
		state       report.State
		since, seen time.Time
		want        bool
	}{
		"offered, seen a moment ago":        {report.Offered, ago(time.Hour), ago(time.Second), false},
		"offered, not seen for ten minutes": {report.Offered, ago(time.Hour), ago(10 * time.Minute), true},
		"offered, just under":               {report.Offered, ago(time.Hour), ago(10*time.Minute - 1), false},
		"offered a moment ago, long unseen": {report.Offered, ago(time.Second), ago(time.Hour), false},
		"installed and died":                {report.Installed, ago(11 * time.Minute), ago(11 * time.Minute), true},
		"died at work":                      {report.Working, ago(11 * time.Minute), ago(11 * time.Minute), true},
		"put off, and switched off":         {report.Deferred, ago(time.Hour), ago(time.Hour), false},
		"failed":                            {report.Failed, ago(time.Hour), ago(time.Hour), false},
		"reverted":                          {report.Reverted, ago(time.Hour), ago(time.Hour), false},
		"offered, last seen unknown":        {report.Offered, ago(time.Hour), time.Time{}, false},
		"offered, seen by a fast clock":     {report.Offered, ago(time.Hour), now.Add(time.Second), false},
	} {
		o := report.Offer{State: c.state, Since: c.since}
		got := o.Silent(c.seen, now, after)
		expect.That(t, got == c.want, "%s: %t", name, got)
	}
	expect.Equal(t, report.SilentAfter(5*time.Minute), 25*time.Minute, "polls every five minutes: silent after")
}
