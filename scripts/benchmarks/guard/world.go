package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/input"
)

// A world is a fleet, its plants, a release with its effects on boxes, and the policy of its rollout. See README.md
// for the file.
type world struct {
	Boxes, Plants, Organizations int
	Days                         int
	Start                        time.Time
	Dead, NeverInstalls          float64
	Pinned                       float64 // before the rollout starts
	PinFailed                    bool    // a box that failed is pinned some minutes later
	Behind                       float64 // of the boxes that are before all stones of the release
	Stones                       int     // that the release requires, one after the other
	ActivePoll, IdlePoll         time.Duration
	Bell                         bool
	InstallLeast, InstallMost    time.Duration
	Dark                         []dark
	AlwaysOn                     float64 // of the boxes, whatever their plants do
	Full                         *full   // nil: the service answers every call
	Attributes                   []attribute
	Release                      []effect
	Policy                       guard.Policy
	Updates                      *updates // nil: all plants take updates always
	release.Urgency                       // of the release
	Urgent                       bool     // the rollout passes by windows and pauses
	Return                       *goingBack
	Cycles                       *cycles // nil: boxes say nothing about their work
	Groups                       []grouping
	CountEvery                   time.Duration // of the boxes
}

// A dark is a time at which a share of the plants is switched off. Its days are those on which it begins.
type dark struct {
	Plants   float64
	From, To time.Duration // of the day; To is after From, on the next day if necessary
	Days     [7]bool       // from Sunday on
}

// A full is a time at which the service refuses a share of the polls, those of all boxes alike: the door is full.
type full struct {
	Calls float64
	spans spans
}

// refuses reports whether the service refuses the poll that a box makes at a time.
func (f *full) refuses(b *box, t time.Duration) bool {
	if f == nil {
		return false
	}
	if _, now := f.spans.at(t); !now {
		return false
	}
	drawn := rand.New(rand.NewPCG(uint64(b.first), uint64(t))) // the same whenever it is asked
	return drawn.Float64() < f.Calls
}

// An attribute of boxes has so many values that are equally frequent, or values with shares; the other boxes have none.
type attribute struct {
	Name   string
	Values int
	Shares map[string]float64
}

// value draws a box's value; it is empty if the box has none.
func (a attribute) value(random *rand.Rand) string {
	if a.Values > 0 {
		return fmt.Sprintf("value-%d", random.IntN(a.Values))
	}
	drawn := random.Float64()
	for _, value := range slices.Sorted(maps.Keys(a.Shares)) {
		if drawn -= a.Shares[value]; drawn < 0 {
			return value
		}
	}
	return ""
}

// The kinds of effects on a box.
const (
	fails   = "fail"
	bricks  = "brick"
	reverts = "revert"
	defers  = "defer"
)

// An effect of the release on a share of the boxes, or of those of a kind, each drawn independently.
type effect struct {
	Share float64
	Kind  string // name=value; also factory and organization
	Stone int    // that it happens on, from 1 on; 0: on the release
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

// A file is a world as it is written.
type file struct {
	Boxes, Plants, Organizations, Days int
	Start                              time.Time
	Dead, NeverInstalls, Pinned        float64
	PinFailed                          bool
	Behind                             float64
	Stones                             int
	PollSeconds, InstallMinutes        []int64
	Bell                               bool
	Dark                               []struct {
		Plants   float64
		From, To string
		Days     []string
	}
	AlwaysOn float64
	Full     *struct {
		Calls    float64
		From, To string
		Days     []string
	}
	Attributes []attribute
	Release    []struct {
		Share, Clustered               float64
		Kind                           string
		Stone                          int
		Does, After, Until, Every, For string
		Code                           report.FailureCode
		Attempts                       int
	}
	Policy         json.RawMessage
	Updates        *fileUpdates
	Kind, Deadline string
	Urgent         bool
	Return         *fileReturn
	Cycles         *cycles
	Groups         []grouping
}

const powerUp = "powerUp"

// parse reads a world. The error lists all faults of its values.
func parse(text []byte) (world, error) {
	f := file{
		Plants: 200, Organizations: 1, Days: 21, Start: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC),
		PollSeconds: []int64{60, 300}, InstallMinutes: []int64{2, 10}, Policy: json.RawMessage(`{}`),
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return world{}, err
	}
	r := &reader{}
	r.must(f.Boxes >= 1 && f.Boxes <= 1_000_000 && f.Plants >= 1 && f.Plants <= 1_000_000 && f.Organizations >= 1 && f.Days >= 1 && f.Days <= 365,
		"boxes, plants, organizations and days must be 1 or more, and not too many")
	r.must(len(f.PollSeconds) == 2 && slices.Min(f.PollSeconds) >= 1 && slices.Max(f.PollSeconds) <= 86_400, "pollSeconds must be two numbers from 1 to 86400")
	r.must(len(f.InstallMinutes) == 2 && f.InstallMinutes[0] >= 0 && slices.IsSorted(f.InstallMinutes) && slices.Max(f.InstallMinutes) <= 10_000,
		"installMinutes must be two numbers, the second not less than the first")
	r.shares(f.Dead, f.NeverInstalls, f.Pinned, f.Behind, f.AlwaysOn)
	r.must(f.Stones >= 0 && f.Stones <= release.MostStones && (f.Stones > 0 || f.Behind == 0), "stones must be 0 to %d, and some if boxes are behind", release.MostStones)
	w := world{
		Boxes: f.Boxes, Plants: f.Plants, Organizations: f.Organizations, Days: f.Days, Start: f.Start.UTC(),
		Dead: f.Dead, NeverInstalls: f.NeverInstalls, Pinned: f.Pinned, PinFailed: f.PinFailed, Behind: f.Behind, AlwaysOn: f.AlwaysOn, Stones: f.Stones, Bell: f.Bell, Attributes: f.Attributes, CountEvery: time.Minute,
	}
	for _, a := range f.Attributes {
		r.must(a.Name != "" && (a.Values > 0) != (len(a.Shares) > 0), "an attribute must have a name, and values or shares")
		r.shares(slices.Collect(maps.Values(a.Shares))...)
	}
	w.Urgency = r.urgency(f.Kind, f.Deadline)
	policy, faults := input.Parse(f.Policy, func(o *input.Object) guard.Policy { return guard.Read(o, time.Minute).For(w.Security()) })
	r.must(len(faults) == 0, "policy: %+v", faults)
	w.Groups = r.groups(f.Groups)
	w.Cycles = f.Cycles
	w.Policy, w.Urgent, w.Updates, w.Return = policy, f.Urgent, r.updates(f.Updates), r.goingBack(f.Return, policy)
	for _, d := range f.Dark {
		w.Dark = append(w.Dark, r.dark(d.Plants, d.From, d.To, d.Days))
	}
	if f.Full != nil {
		r.shares(f.Full.Calls)
		w.Full = &full{f.Full.Calls, w.spans(r.dark(1, f.Full.From, f.Full.To, f.Full.Days))}
	}
	for _, e := range f.Release {
		r.must(e.Stone >= 0 && e.Stone <= f.Stones, "stone must be one of the stones")
		r.must(e.Stone == 0 || (e.Does == fails || e.Does == bricks) && e.After == "", "on a stone, boxes fail or brick at once")
		w.Release = append(w.Release, r.effect(effect{Share: e.Share, Kind: e.Kind, Stone: e.Stone, Does: e.Does, Code: e.Code, PowerUp: e.After == powerUp,
			Clustered: e.Clustered, Attempts: e.Attempts}, e.After, e.Until, e.Every, e.For))
	}
	if r.faults != nil {
		return world{}, errors.Join(r.faults...)
	}
	w.ActivePoll, w.IdlePoll = time.Duration(f.PollSeconds[0])*time.Second, time.Duration(f.PollSeconds[1])*time.Second
	w.InstallLeast, w.InstallMost = time.Duration(f.InstallMinutes[0])*time.Minute, time.Duration(f.InstallMinutes[1])*time.Minute
	return w, nil
}

// A reader collects the faults of a file.
type reader struct{ faults []error }

func (r *reader) must(holds bool, format string, a ...any) {
	if !holds {
		r.faults = append(r.faults, fmt.Errorf(format, a...))
	}
}

func (r *reader) shares(of ...float64) {
	for _, share := range of {
		r.must(share >= 0 && share <= 1, "%g is not a share from 0 to 1", share)
	}
}

// duration reads an ISO 8601 duration; 0 if there is none.
func (r *reader) duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, ok := guard.ParseDuration(text)
	r.must(ok, "%q is not a duration such as PT2H or P1DT3H (ISO 8601), of 30 days at most", text)
	return d
}

func (r *reader) dark(plants float64, from, to string, days []string) dark {
	d := dark{Plants: plants, From: r.clock(from), To: r.clock(to)}
	r.shares(plants)
	r.must(d.From != d.To, "dark: from and to must be two times of day")
	if d.To < d.From {
		d.To += 24 * time.Hour
	}
	for _, name := range days {
		r.must(slices.Contains(calendar.Days, name), "%q is not one of %v", name, calendar.Days)
	}
	for i, name := range calendar.Days {
		d.Days[i] = days == nil || slices.Contains(days, name)
	}
	return d
}

// clock reads a time of day from 00:00 to 24:00.
func (r *reader) clock(text string) time.Duration {
	if text == "24:00" {
		return 24 * time.Hour
	}
	at, err := time.Parse("15:04", text)
	r.must(err == nil, "%q is not a time of day from 00:00 to 24:00", text)
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}

func (r *reader) effect(e effect, after, until, every, lasts string) effect {
	if !e.PowerUp {
		e.After = r.duration(after)
	}
	e.Until, e.Every, e.For = r.duration(until), r.duration(every), r.duration(lasts)
	r.shares(e.Share, e.Clustered)
	r.must(slices.Contains([]string{fails, bricks, reverts, defers}, e.Does), "does is %q, not fail, brick, revert or defer", e.Does)
	r.must(e.Kind == "" || strings.Contains(e.Kind, "="), "kind must be name=value")
	r.must(until == "" || !e.PowerUp && e.Until >= e.After, "until must not be less than after")
	r.must((every == "" || e.Does == reverts) && (lasts == "" || e.Does == defers), "every is a field of revert alone, and for of defer")
	r.must(e.Does == fails || e.Code == "" && e.Attempts == 0, "code and attempts are fields of fail alone")
	r.must(e.Attempts >= 0 && e.Attempts < report.MostAttempts, "attempts must be 0 to %d", report.MostAttempts-1)
	r.must(e.Code == "" || slices.Contains(report.Codes, e.Code), "there is no code %q", e.Code)
	if e.Does == fails && e.Code == "" {
		e.Code = report.CodeOther
	}
	return e
}
