package calendar_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/zones"
	"wavegate/shared/testing/expect"
)

func window(from, to, zone string, days ...string) calendar.Windows {
	if len(days) == 0 {
		days = calendar.Days
	}
	return calendar.Windows{{Days: days, From: from, To: to, TimeZone: zone}}
}

// In Berlin, clocks went from 02:00 to 03:00 on Sunday, 29 March 2026, and go from 03:00 back to 02:00 on
// Sunday, 25 October 2026.
func TestWindows_GoByTheClockOnTheWall(t *testing.T) {
	const berlin = "Europe/Berlin"
	for name, c := range map[string]struct {
		windows calendar.Windows
		open    []string
		closed  []string
	}{
		"no window is always open": {calendar.Windows{}, []string{"2026-03-11T12:00:00Z"}, nil},
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
				expect.That(t, c.windows.Open(instant(t, at)), "%s is closed", at)
			}
			for _, at := range c.closed {
				expect.That(t, !c.windows.Open(instant(t, at)), "%s is open", at)
			}
		})
	}
}

func instant(t interface{ Fatal(...any) }, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestOpens_TheNextWindow(t *testing.T) {
	for name, c := range map[string]struct {
		windows  calendar.Windows
		at, want string
	}{
		"now":                                 {window("08:00", "16:00", "UTC"), "2026-01-05T08:00:01Z", "2026-01-05T08:00:01Z"},
		"later today":                         {window("08:00", "16:00", "UTC"), "2026-01-05T07:59:59Z", "2026-01-05T08:00:00Z"},
		"next week":                           {window("08:00", "16:00", "UTC", "mon"), "2026-01-05T16:00:00Z", "2026-01-12T08:00:00Z"},
		"the week after, since it is skipped": {window("02:00", "03:00", "Europe/Berlin", "sun"), "2026-03-22T03:00:00Z", "2026-04-05T00:00:00Z"},
		"the day of a change, from the last hour before it": {window("06:00", "08:30", "Europe/London"), "2026-03-28T23:30:00Z", "2026-03-29T05:00:00Z"},
		"when clocks are changed into it":                   {window("02:30", "04:00", "Europe/Berlin", "sun"), "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
	} {
		got, ok := c.windows.Opens(instant(t, c.at))
		expect.That(t, ok && got.Equal(instant(t, c.want)), "%s: opens at %s, %v; want %s", name, got, ok, c.want)
	}
	at, ok := window("00:00", "00:01", "No/Zone").Opens(time.Now())
	expect.That(t, !ok, "a window in no zone opens at %s", at)
}

// TestWindows_OpenAndClose_AsASlowSearchFinds asks each minute of two weeks, in any zone and near any change of its clocks within
// ten years, as the database has them.
func TestWindows_OpenAndClose_AsASlowSearchFinds(t *testing.T) {
	names := append(zones.Names(), "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "America/Vancouver")
	rapid.Check(t, func(t *rapid.T) {
		var ws calendar.Windows
		var locations []*time.Location
		for range rapid.IntRange(1, 3).Draw(t, "windows") {
			from, length := rapid.IntRange(0, 1439).Draw(t, "from"), rapid.IntRange(1, 1439).Draw(t, "length")
			clock := func(minute int) string { return time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC).Format("15:04") }
			ws = append(ws, window(clock(from), clock(from+length), rapid.SampledFrom(names).Draw(t, "zone"), rapid.SampledFrom(calendar.Days).Draw(t, "day"))...)
		}
		for _, w := range ws {
			location := expect.Value(zones.Load(w.TimeZone))(t)
			locations = append(locations, location)
		}
		at := time.Unix(rapid.Int64Range(1767225600, 2082758400).Draw(t, "at"), 0) // from 2026 to 2035
		if _, change := at.In(locations[0]).ZoneBounds(); !change.IsZero() && rapid.Bool().Draw(t, "near a change of clocks") {
			at = change.Add(time.Duration(rapid.IntRange(-30*3600, 6*3600).Draw(t, "seconds")) * time.Second).UTC()
		}
		if rapid.Bool().Draw(t, "each day") {
			ws[0].Days = calendar.Days
		}
		for name, c := range map[string]struct {
			find func(time.Time) (time.Time, bool)
			is   bool
		}{"opens": {ws.Opens, true}, "closes": {ws.Closes, false}} {
			want := at
			for slow(ws, locations, want) != c.is {
				want = want.Truncate(time.Minute).Add(time.Minute)
			}
			if got, ok := c.find(at); !ok || !got.Equal(want) {
				t.Fatalf("%v %s at %s, %v; after %s it does so at %s", ws, name, got, ok, at, want)
			}
		}
	})
}

// slow reports whether a clock on the wall shows a time of one of the windows.
func slow(ws calendar.Windows, zones []*time.Location, at time.Time) bool {
	for i, w := range ws {
		local := at.In(zones[i])
		clock := local.Format("15:04")
		began := calendar.Days[local.Weekday()]
		switch {
		case w.From < w.To && (clock < w.From || clock >= w.To), w.From > w.To && clock >= w.To && clock < w.From:
			continue
		case w.From > w.To && clock < w.To:
			began = calendar.Days[(local.Weekday()+6)%7]
		}
		if slices.Contains(w.Days, began) {
			return true
		}
	}
	return false
}

// TestZoneRule_TakesNoNameThatOnlySomeMachinesKnow: a zone that a function cannot load keeps a plant closed. Nor does it take
// many names of one zone, each of which would be loaded.
func TestZoneRule_TakesNoNameThatOnlySomeMachinesKnow(t *testing.T) {
	for name, want := range map[string]bool{
		"Europe/Paris": true, "UTC": true, "Etc/GMT+12": true, "America/Argentina/Ushuaia": true, "EST5EDT": true,
		"Local": false, "localtime": false, "posixrules": false, "posix/Europe/Paris": false, "right/Europe/Paris": false,
		"Factory": false, "utc": false, "europe/berlin": false, "UTC 0": false,
		"Europe//Paris": false, "Europe/./Paris": false, "./UTC": false, "UTC/": false, "/UTC": false, "Europe/../UTC": false, "Europe": false, "": false,
	} {
		expect.Equal(t, calendar.ZoneRule.Accepts(name), want, "%q is accepted", name)
	}
}

func TestZoneRule_OfAnotherSpelling_NamesTheZone(t *testing.T) {
	for name, want := range map[string]string{
		"utc": "; did you mean UTC?", "europe/berlin": "; did you mean Europe/Berlin?", "Berlin": "; did you mean Europe/Berlin?",
		"america/new york": "; did you mean America/New_York?", "No/Zone": "", "Factory": "",
	} {
		_, code, detail := calendar.ZoneRule.Apply(name)
		expect.Equal(t, code+" "+detail, "format must be "+calendar.ZoneRule.Says+want, "%q", name)
	}
}
