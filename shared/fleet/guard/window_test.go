package guard_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/guard"
)

func window(from, to, zone string, days ...string) guard.Windows {
	if len(days) == 0 {
		days = guard.Days
	}
	return guard.Windows{{Days: days, From: from, To: to, TimeZone: zone}}
}

// In Berlin, clocks went from 02:00 to 03:00 on Sunday, 29 March 2026, and go from 03:00 back to 02:00 on
// Sunday, 25 October 2026.
func TestWindows_GoByTheClockOnTheWall(t *testing.T) {
	const berlin = "Europe/Berlin"
	for name, c := range map[string]struct {
		windows guard.Windows
		open    []string
		closed  []string
	}{
		"no window is always open": {guard.Windows{}, []string{"2026-03-11T12:00:00Z"}, nil},
		"a day's window": {window("08:00", "16:30", berlin), []string{"2026-01-05T07:00:00Z", "2026-01-05T15:29:59Z", "2026-07-05T06:00:00Z"},
			[]string{"2026-01-05T06:59:59Z", "2026-01-05T15:30:00Z", "2026-07-05T14:30:00Z"}},
		"the whole day":     {window("00:00", "24:00", berlin, "mon"), []string{"2026-01-04T23:00:00Z", "2026-01-05T22:59:59Z"}, []string{"2026-01-04T22:59:59Z", "2026-01-05T23:00:00Z"}},
		"a night's window":  {window("22:00", "04:00", berlin, "fri"), []string{"2026-01-09T21:00:00Z", "2026-01-10T02:59:59Z"}, []string{"2026-01-09T02:00:00Z", "2026-01-10T03:00:00Z", "2026-01-10T21:00:00Z"}},
		"until midnight":    {window("22:00", "00:00", berlin, "fri"), []string{"2026-01-09T22:59:59Z"}, []string{"2026-01-09T23:00:00Z"}},
		"before the change": {window("00:00", "02:00", berlin, "sun"), []string{"2026-03-29T00:59:59Z"}, []string{"2026-03-29T01:00:00Z"}},
		"an hour that is skipped": {window("02:00", "03:00", berlin, "sun"), []string{"2026-03-22T01:30:00Z", "2026-04-05T00:30:00Z"},
			[]string{"2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}},
		"a window that begins in it": {window("02:30", "04:00", berlin), []string{"2026-03-29T01:00:00Z", "2026-03-29T01:59:59Z"}, []string{"2026-03-29T00:59:59Z", "2026-03-29T02:00:00Z"}},
		"a window that ends in it":   {window("01:00", "02:30", berlin), []string{"2026-03-29T00:59:59Z"}, []string{"2026-03-29T01:00:00Z"}},
		"a night across it":          {window("22:00", "04:00", berlin, "sat"), []string{"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"}, []string{"2026-03-29T02:00:00Z"}},
		"an hour that comes twice": {window("02:00", "03:00", berlin, "sun"), []string{"2026-10-25T00:00:00Z", "2026-10-25T00:59:59Z", "2026-10-25T01:00:00Z", "2026-10-25T01:59:59Z"},
			[]string{"2026-10-24T23:59:59Z", "2026-10-25T02:00:00Z"}},
		"a zone with a half-hour offset": {window("00:00", "01:00", "Asia/Kolkata"), []string{"2026-01-05T18:30:00Z"}, []string{"2026-01-05T18:29:59Z", "2026-01-05T19:30:00Z"}},
		"one of two": {append(window("08:00", "09:00", berlin), window("08:00", "09:00", "America/New_York")...), []string{"2026-01-05T07:30:00Z", "2026-01-05T13:30:00Z"},
			[]string{"2026-01-05T12:30:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range c.open {
				if !c.windows.Open(instant(t, at)) {
					t.Errorf("%s is closed", at)
				}
			}
			for _, at := range c.closed {
				if c.windows.Open(instant(t, at)) {
					t.Errorf("%s is open", at)
				}
			}
		})
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestOpens_TheNextWindow(t *testing.T) {
	for name, c := range map[string]struct {
		windows  guard.Windows
		at, want string
	}{
		"now":                                 {window("08:00", "16:00", "UTC"), "2026-01-05T08:00:01Z", "2026-01-05T08:00:01Z"},
		"later today":                         {window("08:00", "16:00", "UTC"), "2026-01-05T07:59:59Z", "2026-01-05T08:00:00Z"},
		"next week":                           {window("08:00", "16:00", "UTC", "mon"), "2026-01-05T16:00:00Z", "2026-01-12T08:00:00Z"},
		"the week after, since it is skipped": {window("02:00", "03:00", "Europe/Berlin", "sun"), "2026-03-22T03:00:00Z", "2026-04-05T00:00:00Z"},
		"when clocks are changed into it":     {window("02:30", "04:00", "Europe/Berlin", "sun"), "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
	} {
		if got, ok := c.windows.Opens(instant(t, c.at)); !ok || !got.Equal(instant(t, c.want)) {
			t.Errorf("%s: opens at %s, %v; want %s", name, got, ok, c.want)
		}
	}
	if at, ok := window("00:00", "00:01", "No/Zone").Opens(now); ok {
		t.Errorf("a window in no zone opens at %s", at)
	}
}

func TestOpens_IsOpenThen_AndNotBefore(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}
	rapid.Check(t, func(t *rapid.T) {
		from, length := rapid.IntRange(0, 1439).Draw(t, "from"), rapid.IntRange(1, 1439).Draw(t, "length")
		clock := func(minute int) string { return time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC).Format("15:04") }
		ws := window(clock(from), clock(from+length), rapid.SampledFrom(zones).Draw(t, "zone"), rapid.SampledFrom(guard.Days).Draw(t, "day"))
		at := time.Unix(rapid.Int64Range(1767225600, 1798761600).Draw(t, "at"), 0) // in 2026
		opens, ok := ws.Opens(at)
		if !ok || !ws.Open(opens) || opens.Before(at) {
			t.Fatalf("opens at %s, %v", opens, ok)
		}
		for before := opens.Add(-time.Second); !before.Before(at); before = before.Add(-67 * time.Minute) {
			if ws.Open(before) {
				t.Fatalf("is open at %s, but said to open at %s", before, opens)
			}
		}
	})
}
