package report_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

var eight = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// every are the latest calls of a box at a time, after such pauses, the last one first.
func every(at time.Time, pauses ...time.Duration) (calls []time.Time) {
	calls = append(calls, at)
	for _, pause := range pauses {
		at = at.Add(-pause)
		calls = append(calls, at)
	}
	return calls
}

func repeated(n int, pauses ...time.Duration) (all []time.Duration) {
	for range n {
		all = append(all, pauses...)
	}
	return all
}

// TestNext_ABoxIsSuspected_IfItsLatestPausesWereTooShort.
func TestNext_ABoxIsSuspected_IfItsLatestPausesWereTooShort(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		pauses []time.Duration
		offer  *report.Offer
		ddi    bool
		want   int // the seconds between its calls; 0: it is not suspected
	}{
		"as told":                             {pauses: repeated(6, 300*second)},
		"half as long":                        {pauses: repeated(12, 150*second)},
		"a little less":                       {pauses: repeated(12, 149*second), want: 149},
		"often":                               {pauses: repeated(59, 12*second), want: 12},
		"several times a second":              {pauses: repeated(60, 0, 0, second/2), want: 1},
		"too few calls":                       {pauses: repeated(9, 149*second)},
		"some tries after a failure":          {pauses: repeated(39, 5*second)},
		"and then as told":                    {pauses: append([]time.Duration{300 * second}, repeated(55, 5*second)...)},
		"with a second call at once":          {pauses: repeated(6, 0, 300*second)},
		"after a pause":                       {pauses: append(repeated(40, 7*second), 300*second), want: 7},
		"by what it was told before":          {pauses: repeated(30, 12*second), offer: &report.Offer{State: report.Installed, Since: eight.Add(-time.Minute)}},
		"that never takes what it is told":    {pauses: repeated(30, 12*second), offer: &report.Offer{State: report.Offered, Since: eight.Add(-time.Hour)}, want: 12},
		"that installs":                       {pauses: repeated(30, 12*second), offer: &report.Offer{State: report.Working, Since: eight.Add(-time.Hour)}},
		"that failed":                         {pauses: repeated(30, 12*second), offer: &report.Offer{State: report.Failed, Since: eight.Add(-time.Hour)}, want: 12},
		"that tries again, with a DDI client": {pauses: repeated(30, 12*second), offer: &report.Offer{State: report.Failed, Since: eight.Add(-time.Hour)}, ddi: true},
	} {
		row, _ := report.Next(report.Row{EdgeID: "box-1", Offer: c.offer, DDI: c.ddi}, report.Polled{Calls: every(eight, c.pauses...), Every: 300 * second, At: eight})
		got := 0
		if row.Frequent != nil {
			got = row.Frequent.EverySeconds
		}
		expect.Equal(t, got, c.want, "%s:", name)
		expect.That(t, row.Often() == nil && !row.Entry().Frequent, "%s: it is frequent at once", name)
	}
}

// TestNext_ASuspectedBox_IsFrequentAnHourLater_UntilThreeHoursAfterIt: it is noted once an hour, and named with what it costs.
func TestNext_ASuspectedBox_IsFrequentAnHourLater_UntilThreeHoursAfterIt(t *testing.T) {
	row := report.Row{EdgeID: "box-1"}
	for _, c := range []struct {
		after                time.Duration
		often, changed, want bool
	}{
		{0, false, true, false}, {time.Minute, true, true, false}, {2 * time.Minute, true, false, false}, {59 * time.Minute, false, false, false},
		{62 * time.Minute, true, true, true}, {2 * time.Hour, true, false, true}, {3 * time.Hour, true, true, true}, {5 * time.Hour, false, false, true},
		{6 * time.Hour, false, true, false}, {7 * time.Hour, true, true, false}, {11 * time.Hour, true, true, false}, {13 * time.Hour, true, true, true},
	} {
		at := eight.Add(c.after)
		polled := report.Polled{Told: "1.0.0", Running: "1.0.0", Every: 5 * time.Minute, At: at}
		if polled.Calls = every(at); c.often {
			polled.Calls = every(at, repeated(59, 12*time.Second)...)
		}
		next, changed := report.Next(row, polled)
		expect.Equal(t, []bool{changed, next.Often() != nil}, []bool{c.changed, c.want}, "after %s it is written, and frequent:", c.after)
		e := expect.Value(report.IndexEntryOf(next.Entry().StateKey()))(t)
		expect.Equal(t, e.Frequent, c.want, "after %s the index says:", c.after)
		const sentence = "It calls every 12 s, and was told to wait 300 s or longer: at the API, that costs about 1.11 dollars a month more."
		expect.Equal(t, strings.TrimSpace(next.Often().Sentence()) == sentence, c.want, "after %s: %s", c.after, next.Often().Sentence())
		row = next
	}
}
