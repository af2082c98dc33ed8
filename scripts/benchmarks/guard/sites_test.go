package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/zones"
	"wavegate/shared/testing/expect"
)

// twelveZones are those of the worlds windows-*.
const twelveZones = `["Europe/Berlin", "America/New_York", "Asia/Tokyo", "America/Los_Angeles", "Asia/Kolkata", "Australia/Sydney",
	"Europe/London", "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Auckland", "Africa/Casablanca"]`

// TestRun_PlantsThatSayWhen plays small worlds of those in results/guard.md.
func TestRun_PlantsThatSayWhen(t *testing.T) {
	const start = `{"boxes": 1000, "plants": 200, "days": 35, "start": "2026-03-23T08:00:00Z", `
	const windows = `"updates": {"zones": ` + twelveZones + `, "randomHours": [2, 8], "windows": [{"plants": 0.05, "days": ["sat", "sun"], "from": "06:00", "to": "14:00"}]`
	const auto = `"kind": "security", "policy": {"promote": {"auto": true}}}`
	const people = `"policy": {"mode": "advise"}}`
	const deadBoxes = `"dark": [{"plants": 0.3, "from": "13:00", "to": "06:00", "days": ["tue"]}], "release": [{"share": 0.25, "does": "brick", "after": "PT2H", "until": "PT3H"}], `
	for name, c := range map[string]struct {
		world, outcome string
		asked, back    int // the least
	}{
		"windows":                       {start + windows + "}, " + auto, "completed", 700, 0},
		"windows and a bell":            {start + `"bell": true, ` + windows + "}, " + auto, "completed", 700, 0},
		"pauses that a deadline ends":   {start + `"deadline": "P3D", ` + windows + `, "pauses": [{"plants": 0.2, "start": "P1D", "for": "P7D"}]}, ` + auto, "completed", 700, 0},
		"windows, and all die":          {start + `"release": [{"share": 1, "does": "brick", "after": "PT1H"}], ` + windows + "}, " + auto, "halted", 5, 0},
		"urgent":                        {start + `"urgent": true, ` + windows + "}, " + auto, "completed", 0, 0},
		"a return in windows":           {start + deadBoxes + `"return": {"after": "PT30H", "stage": 50}, ` + windows + "}, " + people, "halted", 300, 300},
		"an urgent return":              {start + deadBoxes + `"return": {"after": "PT30H", "stage": 50, "urgent": true}, ` + windows + "}, " + people, "halted", 300, 300},
		"windows that slow polls meet":  {start + `"pollSeconds": [43200, 43200], ` + windows + "}, " + auto, "completed", 700, 0},
		"plants that are dark at night": {start + `"dark": [{"plants": 0.3, "from": "22:00", "to": "06:00"}], ` + windows + "}, " + auto, "completed", 700, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := mustParse(t, c.world)
			w.CountEvery = time.Hour
			r := run(w, 1)
			expect.Equal(t, r.Outcome, c.outcome, "%+v: outcome", r)
			if r.Kept.Outside > 0 || r.Kept.Late > 0 || r.Kept.Asked < c.asked || w.Urgent && r.Kept.Asked > 0 {
				t.Errorf("%d boxes waited: %+v", r.Kept.Asked, r.Kept)
			}
			expect.That(t, r.Back.Told == 0 && r.Back.InTime >= r.Back.Answer && r.Back.Answer >= c.back, "%+v", r.Back)
		})
	}
}

// TestRun_Groups_OneAtATime: some boxes die as soon as they have the release, and nobody halts it. No two of a group are down
// because of it.
func TestRun_Groups_OneAtATime(t *testing.T) {
	w := mustParse(t, `{"boxes": 1000, "plants": 80, "days": 2, "groups": [{"boxes": 0.1, "size": 6}, {"boxes": 0.5, "size": 2}], "return": {"after": "P1D", "stage": 50},
		"release": [{"share": 0.1, "does": "brick"}], "policy": {"mode": "advise"}}`)
	w.CountEvery = 6 * time.Hour
	r := run(w, 1)
	expect.That(t, r.Kept.Together == 0 && r.Kept.Asked >= 50 && r.Hurt >= 25, "%+v", r)
}

// TestRun_AnyPlants_NobodyIsToldOutside: no box is told while a clock on its plant's wall says that it is closed, and none misses its
// first window, if it polls at least once in each: one that does not yet know of a change may sleep through a shorter
// one. A pause may begin while boxes come one after another in the first tenth of their window.
func TestRun_AnyPlants_NobodyIsToldOutside(t *testing.T) {
	zones := rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "UTC", "Africa/Casablanca"})
	rapid.Check(t, func(t *rapid.T) {
		clock := func(name string) string {
			return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, name), rapid.SampledFrom([]int{0, 10, 45}).Draw(t, name))
		}
		w := world{
			Boxes: 60, Plants: 6, Organizations: 2, Days: 9, CountEvery: time.Hour, InstallLeast: time.Minute, InstallMost: 20 * time.Minute, NeverInstalls: 0.1, Dead: 0.05,
			Start:      time.Date(2026, rapid.SampledFrom([]time.Month{3, 4, 10, 11}).Draw(t, "month"), rapid.IntRange(1, 31).Draw(t, "day"), 0, rapid.IntRange(0, 1439).Draw(t, "minute"), 0, 0, time.UTC),
			ActivePoll: time.Duration(rapid.IntRange(60, 4000).Draw(t, "active")) * time.Second, IdlePoll: time.Duration(rapid.IntRange(60, 40_000).Draw(t, "idle")) * time.Second,
			Bell: rapid.Bool().Draw(t, "bell"), Urgent: rapid.IntRange(0, 5).Draw(t, "urgent") == 0, Updates: &updates{Zones: rapid.SliceOfN(zones, 1, 3).Draw(t, "zones")},
		}
		w.Deadline = rapid.SampledFrom([]string{"", "P1D", "P3D"}).Draw(t, "deadline")
		shortest := 24 * time.Hour // of the windows
		w.Policy = mustParsePolicy(t, `{"promote": {"auto": true, "soak": {"1": "PT1H", "10": "PT1H", "50": "PT1H", "100": "P1D"}}, "guard": {"taken": 0.5, "smallFleet": "allDecided"}}`)
		for range rapid.IntRange(0, 3).Draw(t, "windows") {
			h := hours{Plants: 0.4, Hours: calendar.Hours{Days: rapid.SliceOfNDistinct(rapid.SampledFrom(calendar.Days), 1, 7, rapid.ID).Draw(t, "days"), From: clock("from"), To: clock("to")}}
			if h.From != h.To {
				shortest = min(shortest, lasts(h.Hours))
				w.Updates.Windows = append(w.Updates.Windows, h)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "pauses") {
			w.Updates.Pauses = append(w.Updates.Pauses, pause{0.5, time.Duration(rapid.IntRange(0, 100).Draw(t, "start")) * time.Hour, time.Duration(rapid.IntRange(1, 200).Draw(t, "for")) * time.Hour})
		}
		if stage := rapid.SampledFrom([]int{0, 10, 50}).Draw(t, "return"); stage > 0 {
			w.Policy.Mode = "advise"
			w.Return = &goingBack{After: time.Duration(rapid.IntRange(1, 100).Draw(t, "after")) * time.Hour, Stage: stage, Urgent: rapid.Bool().Draw(t, "urgently")}
		}
		if r := run(w, rapid.IntRange(1, 1000).Draw(t, "seed")); r.Kept.Outside > 0 || r.Kept.Late > 0 && len(w.Updates.Pauses) == 0 && shortest >= max(w.IdlePoll, w.ActivePoll) || r.Back.Told > 0 {
			t.Fatalf("%+v", r)
		}
	})
}

// lasts is how long a window is open on a day without a change of clocks.
func lasts(h calendar.Hours) time.Duration {
	clock := func(text string) time.Duration {
		at, err := time.Parse("15:04", text)
		if err != nil {
			panic(err) // the test made it
		}
		return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	}
	return (clock(h.To) - clock(h.From) + 24*time.Hour) % (24 * time.Hour)
}

func mustParsePolicy(t rapid.TB, text string) guard.Policy {
	w, err := parse([]byte(`{"boxes": 1, "policy": ` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return w.Policy
}

func TestSite_OpensByTheClockOnTheWall(t *testing.T) {
	until := func(text string) time.Time {
		at := expect.Value(time.Parse(time.RFC3339, text))(t)
		return at
	}
	berlin := expect.Value(zones.Load("Europe/Berlin"))(t)
	s := site{zone: berlin, updates: calendar.Updates{Windows: []calendar.Hours{{Days: []string{"sat", "sun"}, From: "23:30", To: "02:30"}}},
		pauses: []calendar.Pause{{From: until("2026-04-04T00:00:00Z"), Until: until("2026-04-12T00:00:00Z")}}}
	for name, c := range map[string]struct {
		from, opens string
		haste       calendar.Haste
	}{
		"at its beginning":          {"2026-03-27T12:00:00Z", "2026-03-28T22:30:00Z", calendar.Haste{}},
		"within":                    {"2026-03-29T00:59:00Z", "2026-03-29T00:59:00Z", calendar.Haste{}},
		"clocks skip its end":       {"2026-03-29T01:00:00Z", "2026-03-29T21:30:00Z", calendar.Haste{}},
		"after a pause":             {"2026-04-04T00:00:00Z", "2026-04-12T00:00:00Z", calendar.Haste{}},
		"after the deadline":        {"2026-04-04T00:00:00Z", "2026-04-11T21:30:00Z", calendar.Haste{Deadline: new(until("2026-04-06T12:00:00Z"))}},
		"urgent":                    {"2026-04-04T00:00:00Z", "2026-04-04T00:00:00Z", calendar.Haste{Urgent: true}},
		"clocks show its end twice": {"2026-10-25T01:00:00Z", "2026-10-25T01:00:00Z", calendar.Haste{}},
	} {
		t.Run(name, func(t *testing.T) {
			at, _ := s.first(until(c.from), c.haste)
			expect.Equal(t, at, until(c.opens), "opens")
		})
	}
}

func TestParse_NamesEveryFaultOfPlants(t *testing.T) {
	_, err := parse([]byte(`{"boxes": 1, "kind": "small", "deadline": "soon", "return": {"after": "P1D", "stage": 100},
		"updates": {"zones": ["Mars/Base"], "randomHours": [8, 2], "windows": [{"plants": 2, "days": ["monday"], "from": "10:00", "to": "10:00"}], "pauses": [{"plants": 3, "for": "a week"}]}}`))
	for _, want := range []string{"/updates/zones/0 must be", "/updates/randomHours must", "/updates/windows/0/plants must be a share", "/updates/windows/0/to must be",
		"/updates/windows/0/days/0 must be", "/updates/pauses/0/plants must be", "/updates/pauses/0/for must be", "/kind must be", "/deadline must be", "/return/stage must be",
		"/return needs a policy"} {
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s is not in %v", want, err)
	}
}
