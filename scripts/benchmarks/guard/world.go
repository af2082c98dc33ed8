package main

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// A world is a fleet, its plants, a release with its effects on boxes, and the policy of its rollout. See README.md
// for the file.
type world struct {
	Boxes, Plants, Organizations int
	Days                         int
	Start                        time.Time
	Dead, NeverInstalls          float64
	ActivePoll, IdlePoll         time.Duration
	Bell                         bool
	InstallLeast, InstallMost    time.Duration
	Dark                         []dark
	Release                      []effect
	Policy                       guard.Policy
}

// A dark is a time at which a share of the plants is switched off. Its days are those on which it begins.
type dark struct {
	Plants   float64
	From, To time.Duration // of the day; To is after From, on the next day if necessary
	Days     [7]bool       // from Sunday on
}

// The kinds of effects on a box.
const (
	fails   = "fail"
	bricks  = "brick"
	reverts = "revert"
	defers  = "defer"
)

// An effect of the release on a share of the boxes, each drawn independently.
type effect struct {
	Share float64
	Does  string
	Code  report.FailureCode
	// After is how long after the installation it happens, or after being told for defers; up to Until, if that is set.
	After, Until time.Duration
	PowerUp      bool // it happens when the box's plant is switched on again
	Every        time.Duration
	For          time.Duration // of a deferral; 0: forever
	// Clustered is the share of the plants that have all such boxes; 0: all plants.
	Clustered float64
	// Attempts is the number of attempts that fail; the next one works. 0: all fail.
	Attempts int
}

// Rules for world files.
var (
	boxesRule    = &input.Integer{Least: 1, Most: 1_000_000}
	daysRule     = &input.Integer{Least: 1, Most: 365}
	pollRule     = &input.Integer{Least: 1, Most: 86_400}
	minutesRule  = &input.Integer{Least: 0, Most: 10_000}
	attemptsRule = &input.Integer{Least: 1, Most: report.MostAttempts - 1}
	doesRule     = &input.Text{Pattern: `fail|brick|revert|defer`, Says: "fail, brick, revert or defer"}
	dayRule      = &input.Text{Pattern: strings.Join(guard.Days, "|"), Says: "mon, tue, wed, thu, fri, sat or sun"}
	clockRule    = &input.Text{Pattern: `([01][0-9]|2[0-3]):[0-5][0-9]|24:00`, Says: "a time of day from 00:00 to 24:00"}
	durationRule = &input.Text{Check: isDuration, Says: "a duration such as PT2H or P1DT3H (ISO 8601), of 30 days at most"}
	afterRule    = &input.Text{Check: func(s string) bool { return s == powerUp || isDuration(s) }, Says: `a duration such as PT2H (ISO 8601), or "powerUp"`}
	startRule    = &input.Text{Check: func(s string) bool { _, err := time.Parse(time.RFC3339, s); return err == nil }, Says: "a time such as 2026-03-02T08:00:00Z (RFC 3339)"}
)

const powerUp = "powerUp"

func isDuration(text string) bool {
	_, ok := guard.ParseDuration(text)
	return ok
}

// parse reads a world, or returns all its faults.
func parse(text []byte) (world, []problem.Fault) {
	return input.Parse(text, readWorld)
}

func readWorld(o *input.Object) world {
	w := world{
		Boxes: int(o.Integer("boxes", boxesRule)), Plants: whole(o, "plants", boxesRule, 200), Organizations: whole(o, "organizations", boxesRule, 1),
		Days: whole(o, "days", daysRule, 8), Start: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC),
		Dead: share(o, "dead"), NeverInstalls: share(o, "neverInstalls"), Policy: guard.Default(),
	}
	if start, given := o.OptionalText("start", startRule); given {
		w.Start, _ = time.Parse(time.RFC3339, start)
		w.Start = w.Start.UTC()
	}
	w.Bell, _ = o.OptionalBoolean("bell")
	active, idle := pair(o, "pollSeconds", pollRule, 60, 300)
	least, most := pair(o, "installMinutes", minutesRule, 2, 10)
	if least > most {
		o.FaultIn("installMinutes", 1, "range", "must not be less than the first")
	}
	w.ActivePoll, w.IdlePoll = time.Duration(active)*time.Second, time.Duration(idle)*time.Second
	w.InstallLeast, w.InstallMost = time.Duration(least)*time.Minute, time.Duration(most)*time.Minute
	o.OptionalObjects("dark", 0, 100, func(d *input.Object) { w.Dark = append(w.Dark, readDark(d)) })
	o.OptionalObjects("release", 0, 30, func(e *input.Object) { w.Release = append(w.Release, readEffect(e)) })
	o.OptionalObject("policy", func(p *input.Object) { w.Policy = guard.Read(p, time.Minute) })
	return w
}

func whole(o *input.Object, name string, rule *input.Integer, missing int) int {
	if n, given := o.OptionalInteger(name, rule); given {
		return int(n)
	}
	return missing
}

// pair reads a list of two numbers.
func pair(o *input.Object, name string, rule *input.Integer, first, second int64) (int64, int64) {
	if numbers, given := o.Integers(name, &input.List{Of: rule, Least: 2, Most: 2, Repeats: true}); given && len(numbers) == 2 {
		return numbers[0], numbers[1]
	}
	return first, second
}

func share(o *input.Object, name string) float64 {
	n, _, ok := o.OptionalNumber(name)
	return within(o, name, n, ok)
}

func requiredShare(o *input.Object, name string) float64 {
	n, ok := o.Number(name)
	return within(o, name, n, ok)
}

func within(o *input.Object, name string, n float64, ok bool) float64 {
	if ok && (n < 0 || n > 1) {
		o.Fault(name, "range", "must be a share from 0 to 1")
	}
	return n
}

func readDark(o *input.Object) dark {
	d := dark{Plants: requiredShare(o, "plants"), From: clock(o.Text("from", clockRule)), To: clock(o.Text("to", clockRule))}
	if d.To == d.From {
		o.Fault("to", "range", "must be another time of day than from")
	}
	if d.To < d.From {
		d.To += 24 * time.Hour
	}
	days, given := o.OptionalTexts("days", dayRule, 1, len(guard.Days))
	for i, name := range guard.Days {
		d.Days[i] = !given || slices.Contains(days, name)
	}
	return d
}

func clock(text string) time.Duration {
	if len(text) != len("00:00") {
		return 0
	}
	digit := func(i int) int { return int(text[i] - '0') }
	return time.Duration(60*(10*digit(0)+digit(1))+10*digit(3)+digit(4)) * time.Minute
}

func readEffect(o *input.Object) effect {
	e := effect{Share: requiredShare(o, "share"), Does: o.Text("does", doesRule), Clustered: share(o, "clustered")}
	length := func(name string, of ...string) time.Duration {
		text, given := o.OptionalText(name, durationRule)
		if given && e.Does != "" && !slices.Contains(of, e.Does) {
			o.Fault(name, "unknown", "is not a field of "+e.Does)
		}
		d, _ := guard.ParseDuration(text)
		return d
	}
	if after, given := o.OptionalText("after", afterRule); given {
		e.PowerUp = after == powerUp
		e.After, _ = guard.ParseDuration(after)
	}
	e.Until = length("until", fails, bricks, reverts, defers)
	if e.Until != 0 && (e.PowerUp || e.Until < e.After) {
		o.Fault("until", "range", "must be a duration that is not less than after")
	}
	e.Every, e.For = length("every", reverts), length("for", defers)
	if code, given := o.OptionalText("code", report.CodeRule); given {
		e.Code = report.FailureCode(code)
	}
	if n, given := o.OptionalInteger("attempts", attemptsRule); given {
		e.Attempts = int(n)
	}
	if e.Does != fails && e.Does != "" {
		if e.Code != "" {
			o.Fault("code", "unknown", "is a field of fail alone")
		}
		if e.Attempts != 0 {
			o.Fault("attempts", "unknown", "is a field of fail alone")
		}
	} else if e.Code == "" {
		e.Code = report.CodeOther
	}
	return e
}

// faultText writes a fault for a person.
func faultText(f problem.Fault) string {
	text, err := json.Marshal(f)
	if err != nil {
		return f.Pointer + ": " + f.Detail
	}
	return string(text)
}
