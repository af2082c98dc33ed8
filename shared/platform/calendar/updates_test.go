package calendar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// read reads updates as a body has them.
func read(text string) (calendar.UpdatesRequest, []problem.Fault) {
	return input.Parse([]byte(text), func(o *input.Object) calendar.UpdatesRequest {
		return calendar.ReadUpdates(o, &input.Text{Min: 1, Max: 256})
	})
}

func TestReadUpdates_TellsEveryFault(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "[]",
		`{"timeZone":"Europe/Paris","windows":[{"days":["sun"],"from":"04:00","to":"08:00"},{"from":"22:00","to":"02:00"}]}`: "[]",
		`{"windows":[{"days":["fri"],"from":"22:00","to":"06:00"},{"days":["sat"],"from":"05:59","to":"07:00"}]}`:            "[/windows/1 overlap]",
		`{"windows":[{"days":["sat"],"from":"22:00","to":"06:00"},{"days":["sun"],"from":"05:00","to":"07:00"}]}`:            "[/windows/1 overlap]",
		`{"windows":[{"days":["fri"],"from":"22:00","to":"06:00"},{"days":["sat"],"from":"06:00","to":"07:00"}]}`:            "[]",
		`{"windows":[{"days":[],"from":"04:00","to":"04:00"}],"timeZone":"Europe/Atlantis","pausedUntil":"soon"}`:            "[/windows/0/days length, /windows/0/to range, /timeZone format, /pausedUntil format]",
		`{"reason":"stocktaking"}`: "[/reason exclusive]",
		`{"optOut":{"of":"some","until":"soon","by":"me"},"opensAtDeadline":1}`: "[/optOut/by unknown, /optOut/of format, /optOut/reason required, /optOut/until format, /opensAtDeadline type]",
		`{"pausedUntil":null,"reason":"done"}`:                                  "[]",
	} {
		t.Run(text, func(t *testing.T) {
			_, faults := read(text)
			got := []string{}
			for _, f := range faults {
				got = append(got, f.Pointer+" "+f.Code)
			}
			slices.Sort(got)
			wanted := strings.Split(strings.Trim(want, "[]"), ", ")
			slices.Sort(wanted)
			expect.Equal(t, strings.Join(got, ", "), strings.Join(wanted, ", "), "faults")
		})
	}
}

func TestWith_Pauses_AreBounded(t *testing.T) {
	until := func(days float64) string { return monday.Add(time.Duration(days * float64(day))).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		pauses []calendar.Pause
		until  string
		fault  string
	}{
		"14 days":               {nil, until(14), ""},
		"more than 14 days":     {nil, until(14.1), "/updates/pausedUntil"},
		"in the past":           {nil, until(-1), "/updates/pausedUntil"},
		"a fifteenth day in 30": {[]calendar.Pause{{From: monday.Add(-12 * day), Until: monday.Add(-2 * day)}}, until(5), "/updates/pausedUntil"},
		"a fourteenth day":      {[]calendar.Pause{{From: monday.Add(-12 * day), Until: monday.Add(-2 * day)}}, until(4), ""},
		"long ago":              {[]calendar.Pause{{From: monday.Add(-40 * day), Until: monday.Add(-28 * day)}}, until(14), ""},
		"right after another":   {[]calendar.Pause{{From: monday.Add(-10 * day), Until: monday}}, until(5), "/updates/pausedUntil"},
		"longer than it was":    {[]calendar.Pause{{From: monday.Add(-3 * day), Until: monday.Add(3 * day)}}, until(11), ""},
		"longer than 14 days":   {[]calendar.Pause{{From: monday.Add(-3 * day), Until: monday.Add(3 * day)}}, until(12), "/updates/pausedUntil"},
	} {
		t.Run(name, func(t *testing.T) {
			next, err := (&calendar.Updates{Pauses: c.pauses}).With(calendar.UpdatesRequest{PausedUntil: &c.until, Reason: "stocktaking"}, monday)
			if c.fault == "" {
				expect.OK(t, err)
				expect.Equal(t, next.PausedUntil.Format(time.RFC3339), c.until, "paused until")
				return
			}
			faults := problem.From(err).Faults
			expect.That(t, len(faults) == 1 && faults[0].Pointer == c.fault, "%v", err)
		})
	}
}

// TestWith_NoHistoryOfPauses_TakesMoreThanHalfOfAMonth: in any 30 days, at most 14 are paused.
func TestWith_NoHistoryOfPauses_TakesMoreThanHalfOfAMonth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var u *calendar.Updates
		at, all := monday, []calendar.Pause{}
		for range rapid.IntRange(1, 30).Draw(t, "requests") {
			at = at.Add(time.Duration(rapid.IntRange(1, 24*5).Draw(t, "hours")) * time.Hour)
			until := ""
			if rapid.IntRange(0, 3).Draw(t, "ends") > 0 {
				until = at.Add(time.Duration(rapid.IntRange(1, 14*24).Draw(t, "long")) * time.Hour).Format(time.RFC3339)
			}
			next, err := u.With(calendar.UpdatesRequest{PausedUntil: &until, Reason: "r"}, at)
			if err != nil {
				continue
			}
			if n := len(all); n > 0 && all[n-1].Until.After(at) {
				all[n-1].Until = at
			}
			if u = next; u.PausedUntil != nil {
				all = append(all, calendar.Pause{From: at, Until: *u.PausedUntil})
			}
		}
		for _, end := range all {
			var sum time.Duration
			for _, p := range all {
				from, to := p.From, p.Until
				if begin := end.Until.Add(-30 * day); from.Before(begin) {
					from = begin
				}
				if to.After(end.Until) {
					to = end.Until
				}
				sum += max(0, to.Sub(from))
			}
			expect.Must(t, sum <= 14*day, "%s in the 30 days until %s: %v", sum, end.Until, all)
		}
	})
}

// TestWith_ManyShortPauses_AreBounded: each is stored with the factory, and each change of the factory is an event with all of
// them. A pause can always be ended.
func TestWith_ManyShortPauses_AreBounded(t *testing.T) {
	var u *calendar.Updates
	at, begun := monday, 0
	for range 100 {
		at = at.Add(time.Minute)
		if next, err := u.With(calendar.UpdatesRequest{PausedUntil: new(at.Add(time.Hour).Format(time.RFC3339)), Reason: "r"}, at); err == nil {
			u = next
			begun++
		} else if faults := problem.From(err).Faults; len(faults) != 1 || faults[0].Pointer != "/updates/pausedUntil" {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
		ended := expect.Value(u.With(calendar.UpdatesRequest{PausedUntil: new("")}, at))(t)
		u = ended
	}
	expect.Equal(t, begun, 30, "pauses that began")
	expect.Equal(t, len(u.Pauses), 30, "pauses that are stored")
	later := at.Add(30 * day)
	_, err := u.With(calendar.UpdatesRequest{PausedUntil: new(later.Add(time.Hour).Format(time.RFC3339)), Reason: "r"}, later)
	expect.OK(t, err)
}

func TestWait_WindowsPausesDeadlinesAndUrgency(t *testing.T) {
	hours := []calendar.Hours{{Days: []string{"sun"}, From: "04:00", To: "08:00"}}
	sunday := time.Date(2026, 3, 8, 4, 0, 0, 0, time.UTC)
	thursday := monday.Add(3 * day)
	windows, pauses := &calendar.Updates{TimeZone: "UTC", Windows: hours}, &calendar.Updates{PausedUntil: &thursday}
	both := &calendar.Updates{TimeZone: "UTC", Windows: hours, PausedUntil: &thursday}
	for name, c := range map[string]struct {
		updates *calendar.Updates
		haste   calendar.Haste
		at      time.Time
		waits   string
		opens   time.Time
	}{
		"nothing said":                  {nil, calendar.Haste{}, monday, "", time.Time{}},
		"an empty one":                  {&calendar.Updates{}, calendar.Haste{}, monday, "", time.Time{}},
		"outside the windows":           {windows, calendar.Haste{}, monday, "window", sunday},
		"inside":                        {windows, calendar.Haste{}, sunday, "", time.Time{}},
		"urgent":                        {both, calendar.Haste{Urgent: true}, monday, "", time.Time{}},
		"paused":                        {pauses, calendar.Haste{}, monday, "pause", thursday},
		"the pause is over":             {pauses, calendar.Haste{}, thursday, "", time.Time{}},
		"paused, before the deadline":   {pauses, calendar.Haste{Deadline: new(monday.Add(day))}, monday, "pause", monday.Add(day)},
		"paused, after the deadline":    {pauses, calendar.Haste{Deadline: &monday}, monday, "", time.Time{}},
		"paused, and windows":           {both, calendar.Haste{}, monday, "pause", sunday},
		"windows after the deadline":    {both, calendar.Haste{Deadline: &monday}, monday, "window", sunday},
		"paused beyond the next window": {&calendar.Updates{TimeZone: "UTC", Windows: hours, PausedUntil: new(sunday.Add(day))}, calendar.Haste{}, monday, "pause", sunday.Add(7 * day)},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.updates.Wait(c.haste, c.at)
			expect.Equal(t, got.For, c.waits, "waits for")
			expect.Equal(t, got.Opens, c.opens, "opens")
		})
	}
}

func TestUntil_BoxesComeInTheFirstTenthOfTheWindow(t *testing.T) {
	w := calendar.Wait{For: calendar.ForWindow, Opens: monday.Add(time.Hour), Closes: monday.Add(3 * time.Hour)}
	for name, c := range map[string]struct {
		interval time.Duration
		place    uint32
		want     time.Duration
	}{
		"first":                 {6 * time.Hour, 0, time.Hour},
		"last":                  {6 * time.Hour, 1<<32 - 1, time.Hour + 12*time.Minute - 1},
		"polls before":          {5 * time.Minute, 0, 5 * time.Minute},
		"in the middle of them": {6 * time.Hour, 1 << 31, time.Hour + 6*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.Until(c.interval, c.place, monday)
			expect.That(t, got.Round(time.Second) == c.want.Round(time.Second), "%s, want %s", got, c.want)
		})
	}
	expect.Equal(t, calendar.Wait{}.Until(time.Minute, 7, monday), time.Minute, "a box that does not wait")
}
