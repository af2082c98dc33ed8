package polling_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// TestFrequent_BoxesOverHours_AreNamedIfTheyDoNotWait: the limiter counts them, the channel changes each six hours, so that
// they are told to poll more often for ten minutes. Between, the service fails for half an hour, and one tries again.
func TestFrequent_BoxesOverHours_AreNamedIfTheyDoNotWait(t *testing.T) {
	const told = 0 // as long as told
	client := dynamotest.Embedded(t)
	settings := polling.Settings{PollInterval: time.Minute, IdlePollInterval: 5 * time.Minute}
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	outage := func(at time.Time) bool {
		return at.Sub(start) >= 9*time.Hour && at.Sub(start) < 9*time.Hour+30*time.Minute
	}
	for name, c := range map[string]struct {
		waits   time.Duration
		retries time.Duration // while the service fails
		twice   bool          // it says something else at each poll
		want    string        // the seconds between its calls; empty: it is not named
		writes  int           // of its row because of that, at most
	}{
		"as told":                    {told, 0, false, "", 0},
		"as told, and says more":     {told, 0, true, "", 0},
		"as told, and tries again":   {told, 5 * time.Second, false, "", 2},
		"each three minutes":         {3 * time.Minute, 0, false, "", 0},
		"each hundred seconds":       {100 * time.Second, 0, false, "100", 16},
		"each minute":                {time.Minute, 0, false, "60", 16},
		"each twelve seconds":        {12 * time.Second, 0, false, "12", 16},
		"each minute, and says more": {time.Minute, 0, true, "30", 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, row, writes, sentence := start, report.Row{EdgeID: "box-1"}, 0, ""
			limiter := ratelimit.New(ratelimit.Config{Store: client, Limits: ratelimit.Limits{User: 600}, Clock: func() time.Time { return at }, Deadline: time.Minute})
			user := uuid.NewString()
			for at.Sub(start) < 15*time.Hour {
				channel := release.ChannelRow{Channel: release.Channel{UpdatedAt: at.Truncate(6 * time.Hour)}}
				d := limiter.Admit(t.Context(), ratelimit.Caller{User: user, Box: true}, ratelimit.Ordinary)
				expect.Must(t, d.Unchecked == nil && d.Outcome == ratelimit.Admitted, "%+v", d)
				interval := settings.Interval(channel, at, nil)
				wait := interval
				if c.waits != told {
					wait = c.waits
				}
				if outage(at) {
					if c.retries > 0 {
						wait = c.retries
					}
					at = at.Add(wait)
					continue
				}
				next, changed := report.Next(row, report.Polled{Told: "1.0.0", Running: "1.0.0", Calls: d.Calls(), Every: settings.Every(channel, interval, at, nil), At: at})
				if changed && row.Revision > 0 {
					writes++
				}
				if row = next; row.Often() != nil {
					sentence = row.Often().Sentence()
				}
				if c.twice {
					limiter.Admit(t.Context(), ratelimit.Caller{User: user, Box: true}, ratelimit.Ordinary)
				}
				at = at.Add(wait)
			}
			expect.Equal(t, strings.Contains(sentence, "It calls every "+c.want+" s, and was told to wait "), c.want != "", "%s:", sentence)
			expect.That(t, writes <= c.writes, "%d writes", writes)
		})
	}
}

// TestNoted_AFrequentBox_IsCountedOnceForEachNote, with what it costs.
func TestNoted_AFrequentBox_IsCountedOnceForEachNote(t *testing.T) {
	eight := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	with := func(since, at time.Time) report.Row {
		return report.Row{EdgeID: "box-1", OrganizationID: "acme", Frequent: &report.Frequent{Since: since, At: at, DollarsPerMonth: 1.11}}
	}
	suspected, first, second := with(eight, eight), with(eight, eight.Add(time.Hour)), with(eight, eight.Add(2*time.Hour))
	for name, c := range map[string]struct {
		was, is report.Row
		counts  bool
	}{
		"suspected": {report.Row{}, suspected, false}, "frequent": {suspected, first, true}, "and again": {first, second, true},
		"another change": {first, first, false}, "no longer": {second, report.Row{}, false},
	} {
		var out strings.Builder
		polling.Noted(c.was, c.is).Emit(&out, eight)
		expect.Equal(t, strings.Contains(out.String(), `"FrequentDollars":1.11`), c.counts, "%s: %s", name, out.String())
		expect.Equal(t, strings.Contains(out.String(), `"edgeId":"box-1","organizationId":"acme"`), c.counts, "%s: %s", name, out.String())
	}
}
