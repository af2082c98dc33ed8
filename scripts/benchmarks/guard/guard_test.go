package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

func mustParse(t *testing.T, text string) world {
	t.Helper()
	w := expect.Value(parse([]byte(text)))(t)
	return w
}

func TestParse_TheFileOfTheReadme(t *testing.T) {
	w := mustParse(t, `{"boxes": 12000, "plants": 200, "organizations": 20, "days": 8, "start": "2026-03-02T08:00:00Z",
		"dead": 0.01, "neverInstalls": 0.01, "pollSeconds": [60, 300], "installMinutes": [2, 10],
		"dark": [{"plants": 0.3, "from": "22:00", "to": "06:00", "days": ["mon","tue","wed","thu","fri","sat","sun"]}],
		"release": [{"share": 0.05, "does": "fail", "code": "boot", "after": "PT0S"},
			{"share": 0.2, "does": "brick", "after": "PT1H45M", "until": "PT2H"}, {"share": 1, "does": "brick", "after": "powerUp"},
			{"share": 1, "does": "revert", "every": "PT8H"}, {"share": 0.3, "does": "defer", "for": "PT12H"},
			{"share": 0.3, "does": "fail", "code": "download", "clustered": 0.05}],
		"policy": {"promote": {"auto": true}}}`)
	d := w.Dark[0]
	times := []time.Duration{d.From, d.To, w.Release[3].Every, w.ActivePoll, w.InstallMost}
	expect.Equal(t, times, []time.Duration{22 * time.Hour, 30 * time.Hour, 8 * time.Hour, time.Minute, 10 * time.Minute}, "times")
	set := []bool{d.Days[0], w.Release[2].PowerUps == 1, w.Policy.Promote.Auto}
	expect.Equal(t, set, []bool{true, true, true}, "Monday, the power-up and the promotion")
	expect.Equal(t, len(w.Release), 6, "releases:")
	expect.Equal(t, w.Policy.Guard.Taken, 0.8, "the default of what the policy leaves out:")
}

func TestParse_NamesEveryFault(t *testing.T) {
	_, err := parse([]byte(`{"plants": 0, "dead": 2, "pollSeconds": [60], "installMinutes": [10, 2],
		"dark": [{"from": "22:00", "to": "22:00"}, {"plants": 0.1, "from": "25:00", "to": "06:00", "days": ["monday"]}],
		"release": [{"does": "explode"}, {"share": 1, "does": "brick", "code": "boot", "every": "PT1H", "after": "soon"},
			{"share": 1, "does": "brick", "after": "PT2H", "until": "PT1H"}],
		"policy": {"modes": "act"}}`))
	for _, want := range []string{"/boxes is required", "/plants must be", "/dead must be a share", "/pollSeconds must", "/installMinutes must",
		"/dark/0/to must be another time of day", "/dark/1/from must be a time of day", "/dark/1/days/0 must be",
		"/release/0/does must be", "code and attempts", "/release/1/every is a field", "/release/1/after must be powerUp", "/release/2/until must not", "/policy/modes"} {
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s is not in %v", want, err)
	}
	if _, err := parse([]byte(`{"boxes": 1, "more": 1}`)); err == nil || !strings.Contains(err.Error(), "/more") {
		t.Errorf("an unknown field: %v", err)
	}
}

func TestWorlds_AllFilesAreWithoutFaults(t *testing.T) {
	files, err := filepath.Glob("worlds/*.json")
	expect.Must(t, err == nil && len(files) != 0, "%d files, %v", len(files), err)
	for _, file := range files {
		_, err := read(file)
		expect.That(t, err == nil, "%v", err)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("worlds/*.json")
	for _, file := range files {
		text := expect.Value(os.ReadFile(file))(f)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := parse(text)
		if err == nil && (w.Boxes < 1 || w.Plants < 1 || w.Days < 1 || w.Organizations < 1 || w.ActivePoll <= 0 || w.IdlePoll <= 0) {
			t.Fatalf("read %+v", w)
		}
	})
}

func TestSpans_AcrossMidnightAndJoined(t *testing.T) {
	w := mustParse(t, `{"boxes": 1, "plants": 1, "days": 3, "start": "2026-03-06T08:00:00Z",
		"dark": [{"plants": 1, "from": "22:00", "to": "06:00"}, {"plants": 1, "from": "00:00", "to": "24:00", "days": ["sat", "sun"]}]}`)
	dark := newPlay(w, 1).boxes[0].dark
	friday := 14 * time.Hour // 22:00 on Friday
	for at, off := range map[time.Duration]bool{0: false, friday - 1: false, friday: true, friday + 10*time.Hour: true,
		70*time.Hour - 1: true, 70 * time.Hour: false} {
		_, is := dark.at(at)
		expect.That(t, is == off, "after %s it is off: %t", at, is)
	}
	on, ok := dark.nextPowerUp(0)
	expect.That(t, ok && on == 70*time.Hour, "it is switched on after %s, want Monday at six", on)
}

func TestBox_PollsOnlyWhileItsPlantIsOn(t *testing.T) {
	b := box{first: 30 * time.Second, every: time.Minute, dies: 10 * time.Hour, called: -never, dark: spans{{time.Hour, 2 * time.Hour}}}
	for at, want := range map[time.Duration][2]time.Duration{
		time.Minute:                {30 * time.Second, 90 * time.Second},
		time.Hour + time.Minute:    {time.Hour - 30*time.Second, 2*time.Hour + 30*time.Second},
		3*time.Hour + time.Second:  {3*time.Hour - 30*time.Second, 3*time.Hour + 30*time.Second},
		11 * time.Hour:             {10*time.Hour - 30*time.Second, never},
		2*time.Hour + time.Second:  {time.Hour - 30*time.Second, 2*time.Hour + 30*time.Second},
		-10 * time.Second:          {-30 * time.Second, 30 * time.Second},
		2*time.Hour + time.Minute:  {2*time.Hour + 30*time.Second, 2*time.Hour + 90*time.Second},
		10*time.Hour - time.Second: {10*time.Hour - 30*time.Second, never},
	} {
		if seen, next := b.lastSeen(at), b.nextPoll(at); seen != want[0] || next != want[1] {
			t.Errorf("at %s it was seen at %s and polls at %s, want %v", at, seen, next, want)
		}
	}
}

// TestBox_PollsThatTheServiceRefuses_AreNotSeen: a refused box polls again at its next interval.
func TestBox_PollsThatTheServiceRefuses_AreNotSeen(t *testing.T) {
	b := box{first: 0, every: time.Minute, dies: never, called: -never, full: &full{Calls: 1, spans: spans{{time.Hour, 2 * time.Hour}}}}
	expect.Equal(t, b.lastSeen(90*time.Minute), 59*time.Minute, "while the service refuses all calls, it was seen at")
	expect.Equal(t, b.nextPoll(90*time.Minute), 2*time.Hour, "while the service refuses all calls, it polls at")
	b.full.Calls = 0.5
	seen := 0
	for minute := 60; minute < 120; minute++ {
		if at := time.Duration(minute) * time.Minute; b.lastSeen(at) == at {
			expect.Equal(t, b.nextPoll(at), at, "a poll that was answered is at")
			seen++
		}
	}
	expect.That(t, seen >= 15 && seen <= 45, "%d of 60 polls were answered, where half of them are refused", seen)
}

// TestRun_EndsAsItShould plays one small world for each kind of end.
func TestRun_EndsAsItShould(t *testing.T) {
	const auto = `"policy": {"promote": {"auto": true, "soak": {"1": "P1D", "10": "P1D", "50": "P1D", "100": "P1D"}}}}`
	for name, c := range map[string]struct {
		world, outcome, reason string
		stage                  int
	}{
		"good":            {`{"boxes": 500, ` + auto, "completed", "CLEAR", 100},
		"nobody promotes": {`{"boxes": 500, "days": 2}`, "held", "PEOPLE_PROMOTE", 1},
		"all fail": {`{"boxes": 2000, "release": [{"share": 1, "does": "fail", "code": "boot"}], ` +
			auto, "halted", "TOO_MANY_BAD", 1},
		"all brick": {`{"boxes": 2000, "release": [{"share": 1, "does": "brick", "after": "PT3H"}], ` +
			auto, "halted", "TOO_MANY_SILENT", 1},
		"good, with a bell":       {`{"boxes": 9000, "bell": true, ` + auto, "completed", "CLEAR", 100},
		"all brick, with a bell":  {`{"boxes": 9000, "bell": true, "release": [{"share": 1, "does": "brick", "after": "PT3H"}], ` + auto, "halted", "TOO_MANY_SILENT", 1},
		"all brick at a power-up": {`{"boxes": 2000, "dark": [{"plants": 0.5, "from": "22:00", "to": "06:00"}], "release": [{"share": 1, "does": "brick", "after": "powerUp"}], ` + auto, "halted", "TOO_MANY_SILENT", 1},
		"all of a kind brick": {`{"boxes": 3000, "attributes": [{"name": "revision", "shares": {"B": 0.03}}, {"name": "model", "values": 40}], ` +
			`"release": [{"share": 1, "kind": "revision=B", "does": "brick", "after": "PT3H"}], ` + auto, "halted", "KIND_BAD: Halt: 5 of 5 boxes with revision=B that the release reached are silent, and 0 of 78 that it did not reach.", 10},
		"all of a kind fail": {`{"boxes": 3000, "attributes": [{"name": "revision", "shares": {"B": 0.03}}, {"name": "model", "values": 40}], ` +
			`"release": [{"share": 1, "kind": "revision=B", "does": "fail", "code": "boot"}], ` + auto, "halted", "KIND_BAD: Halt: 5 of 5 boxes with revision=B are bad, in 4 factories, and 0 of 290 others.", 10},
		"all fall back": {`{"boxes": 2000, "release": [{"share": 1, "does": "revert", "every": "PT8H"}], ` +
			auto, "halted", "TOO_MANY_BAD", 1},
		"half have no space": {`{"boxes": 2000, "days": 3, "release": [{"share": 0.5, "does": "fail", "code": "space"}], ` + auto, "held", "TOO_FEW_TAKEN", 1},
		"half are put off": {`{"boxes": 2000, "days": 3, "release": [{"share": 0.5, "does": "defer"}], ` + auto,
			"held", "TOO_FEW_TAKEN", 1},
		"half never polled":     {`{"boxes": 2000, "days": 3, "dead": 0.5, ` + auto, "held", "TOO_FEW_TAKEN", 1},
		"30 percent are pinned": {`{"boxes": 2000, "pinned": 0.3, ` + auto, "completed", "CLEAR", 100},
		"many fail, and are pinned": {`{"boxes": 2000, "pinFailed": true, "release": [{"share": 0.5, "does": "fail", "code": "boot"}], ` +
			auto, "halted", "TOO_MANY_BAD", 1},
		"a tenth are three stones behind":                {`{"boxes": 2000, "stones": 3, "behind": 0.1, ` + auto, "completed", "CLEAR", 100},
		"a stone bricks":                                 {`{"boxes": 12000, "stones": 3, "behind": 0.1, "release": [{"share": 1, "stone": 2, "does": "brick"}], ` + auto, "halted", "TOO_MANY_SILENT", 1},
		"all brick, while half of the calls are refused": {`{"boxes": 2000, "full": {"calls": 0.5, "from": "00:00", "to": "24:00"}, "release": [{"share": 1, "does": "brick", "after": "PT3H"}], ` + auto, "halted", "TOO_MANY_SILENT", 1},
		"good, while half of the calls are refused":      {`{"boxes": 2000, "full": {"calls": 0.5, "from": "00:00", "to": "24:00"}, ` + auto, "completed", "CLEAR", 100},
		"a fleet that grows":                             {`{"boxes": 1000, "growth": 0.2, "plants": 40, "organizations": 5, ` + auto, "completed", "CLEAR", 100},
		"only new boxes brick": {`{"boxes": 1000, "growth": 0.3, "plants": 40, "organizations": 5, "days": 6, "release": [{"share": 1, "kind": "born=later", "does": "brick"}], ` +
			auto, "held", "YOUNG_HARMED", 100},
		"all die where two attributes meet": {`{"boxes": 3000, "days": 8, "attributes": [{"name": "board", "shares": {"B": 0.3}}, {"name": "system", "shares": {"Y": 0.2}}], ` +
			`"release": [{"share": 1, "kind": "board=B&system=Y", "does": "brick"}], ` + auto, "halted", "TOO_MANY_SILENT", 10},
		"all brick at the second power-up": {`{"boxes": 2000, "dark": [{"plants": 0.5, "from": "22:00", "to": "06:00"}], "release": [{"share": 1, "does": "brick", "after": "powerUp", "powerUps": 2}], ` + auto, "halted", "TOO_MANY_SILENT", 10},
		"a tenth are written anew":         {`{"boxes": 500, "reimaged": 0.1, "dying": 0.007, ` + auto, "completed", "CLEAR", 100},
		"rolled out again after its return": {`{"boxes": 500, "return": {"after": "PT5H", "stage": 10, "again": "P1D", "policy": {"promote": {"auto": true}}}, "policy": {"mode": "advise"}}`,
			"completed", "CLEAR", 100},
		"half never install":          {`{"boxes": 2000, "days": 3, "neverInstalls": 0.5, ` + auto, "held", "TOO_FEW_TAKEN", 1},
		"works at the second attempt": {`{"boxes": 500, "release": [{"share": 0.3, "does": "fail", "code": "boot", "attempts": 1}], ` + auto, "completed", "CLEAR", 100},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(mustParse(t, c.world), 1)
			expect.That(t, r.Outcome == c.outcome && r.Stage == c.stage && strings.HasPrefix(r.Reason, c.reason),
				"%+v", r)
			if behind := strings.Contains(c.world, "behind"); r.Skipped > 0 || behind && r.Outcome == "completed" && r.Passed < 150 {
				t.Errorf("%d boxes skipped a stone, and %d passed all", r.Skipped, r.Passed)
			}
		})
	}
}

func TestRun_TheSameSeed_GivesTheSame(t *testing.T) {
	const world = `{"boxes": 500, "days": 2, "bell": true, "release": [{"share": 0.3, "does": "fail", "code": "boot", "attempts": 1}]}`
	const seeds = 4
	var first, again []result
	for _, all := range []*[]result{&first, &again} {
		expect.OK(t, each(mustParse(t, world), 1, seeds, func(r result) error { *all = append(*all, r); return nil }))
	}
	expect.Equal(t, again, first, "the second time, the fleets end")
}

// TestWorlds_SmallFleetsAndSlowPolls plays a few fleets of each, and 200 if LONG is set.
func TestWorlds_SmallFleetsAndSlowPolls(t *testing.T) {
	for pattern, c := range map[string]struct{ completed, halted [2]float64 }{ // the least and the most of a hundred
		"small-good-*":    {[2]float64{0, 100}, [2]float64{0, 1}},
		"small-bricks-*":  {[2]float64{0, 0}, [2]float64{0, 100}},
		"small-30h-*":     {[2]float64{0, 0}, [2]float64{0, 100}},
		"polls-*-brick":   {[2]float64{0, 0}, [2]float64{98, 100}},
		"polls-12h-good*": {[2]float64{95, 100}, [2]float64{0, 1}},
	} {
		files := expect.Value(filepath.Glob("worlds/" + pattern + ".json"))(t)
		for _, file := range files {
			seeds := expect.Long(2, 200)
			w := expect.Value(read(file))(t)
			ends := map[string]float64{}
			expect.OK(t, each(w, 1, seeds, func(r result) error { ends[r.Outcome] += 100 / float64(seeds); return nil }))
			for outcome, bounds := range map[string][2]float64{"completed": c.completed, "halted": c.halted} {
				if got := ends[outcome]; got < bounds[0] || got > bounds[1] {
					t.Errorf("%s: %g of a hundred are %s, want %g to %g", file, got, outcome, bounds[0], bounds[1])
				}
			}
		}
	}
}
