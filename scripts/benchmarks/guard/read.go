package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/input"
)

// parse reads a world. The error lists all faults.
func parse(text []byte) (world, error) {
	var values struct {
		Attributes []struct{ Shares map[string]float64 }
	} // which have any names
	_ = json.Unmarshal(text, &values) // what it cannot read is a fault below
	w, faults := input.Parse(text, func(o *input.Object) world {
		w := reader{o}.world()
		for i := range min(len(w.Attributes), len(values.Attributes)) {
			w.Attributes[i].Shares = values.Attributes[i].Shares
			for value, share := range w.Attributes[i].Shares {
				if share < 0 || share > 1 {
					o.FaultIn("attributes", i, "range", fmt.Sprintf("%s: %g is not a share from 0 to 1", value, share))
				}
			}
		}
		return w
	})
	var all []error
	for _, f := range faults {
		all = append(all, fmt.Errorf("%s %s", f.Pointer, f.Detail))
	}
	return w, errors.Join(all...)
}

const (
	mostBoxes = 1_000_000
	mostDays  = 365
	mostItems = 1000 // of a list
	powerUp   = "powerUp"
)

// A reader reads the fields of a world. What is missing has the default.
type reader struct{ *input.Object }

func (r reader) world() world {
	w := world{
		Boxes: r.number("boxes", 1, mostBoxes, 0), Plants: r.number("plants", 1, mostBoxes, 200), Organizations: r.number("organizations", 1, mostBoxes, 1),
		Days: r.number("days", 1, mostDays, 21), Start: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC),
		Dead: r.share("dead"), Dying: r.share("dying"), DeadDays: r.number("deadDays", 1, mostDays, 7), NeverInstalls: r.share("neverInstalls"), Growth: r.share("growth"), Reimaged: r.share("reimaged"), Pinned: r.share("pinned"), PinFailed: r.flag("pinFailed"),
		Behind: r.share("behind"), Stones: r.number("stones", 0, release.MostStones, 0), AlwaysOn: r.share("alwaysOn"), Bell: r.flag("bell"),
		Urgent: r.flag("urgent"), CountEvery: time.Minute,
	}
	if w.Boxes == 0 {
		r.Missing("boxes")
	}
	if start, given := r.OptionalText("start", &input.Text{Says: "a time such as 2026-03-02T08:00:00Z", Check: func(text string) bool { return !input.ParseTime(text).IsZero() }}); given {
		w.Start = input.ParseTime(start).UTC()
	}
	r.must(w.Stones > 0 || w.Behind == 0, "behind", "needs stones")
	poll, install := r.pair("pollSeconds", 1, 86_400, 60, 300), r.pair("installMinutes", 0, 10_000, 2, 10)
	r.must(install[0] <= install[1], "installMinutes", "must be two numbers, the second not less than the first")
	w.ActivePoll, w.IdlePoll = time.Duration(poll[0])*time.Second, time.Duration(poll[1])*time.Second
	w.InstallLeast, w.InstallMost = time.Duration(install[0])*time.Minute, time.Duration(install[1])*time.Minute
	w.Urgency = r.urgency()
	w.Policy = guard.Open()
	r.OptionalObject("policy", func(o *input.Object) { w.Policy = guard.Read(o, time.Minute) })
	w.Policy = w.Policy.For(w.Security())
	r.plants(&w)
	r.list("attributes", func(a reader) {
		of := attribute{Name: a.Text("name", &input.Text{Min: 1}), Values: a.number("values", 1, mostBoxes, 0)}
		shares := a.OptionalObject("shares", func(o *input.Object) { o.Open() })
		a.must((of.Values > 0) != shares, "", "must have values or shares")
		w.Attributes = append(w.Attributes, of)
	})
	r.list("release", func(e reader) { w.Release = append(w.Release, e.effect(w.Stones)) })
	r.list("groups", func(g reader) {
		w.Groups = append(w.Groups, grouping{g.share("boxes"), g.number("size", 2, report.MostInGroup, 2)})
	})
	r.OptionalObject("cycles", func(o *input.Object) {
		c := reader{o}
		w.Cycles = &cycles{Noise: c.share("noise"), Slower: c.share("slower"), Crash: c.share("crash")}
	})
	r.OptionalObject("return", func(o *input.Object) {
		stage, back := o.Integer("stage", &input.Integer{OneOf: []int{10, 50}}), reader{o}
		w.Return = &goingBack{After: back.duration("after"), Stage: int(stage), Urgent: back.flag("urgent"), Again: back.duration("again")}
		if !o.OptionalObject("policy", func(o *input.Object) { w.Return.Policy = guard.Read(o, time.Minute) }) && w.Return.Again > 0 {
			w.Return.Policy = guard.Open()
		}
		r.must(w.Policy.Mode == guard.Advise, "return", "needs a policy whose mode is advise")
	})
	return w
}

// plants reads when plants are switched off, when the service refuses calls, and when plants take updates.
func (r reader) plants(w *world) {
	r.list("dark", func(d reader) { w.Dark = append(w.Dark, d.dark(d.share("plants"))) })
	r.OptionalObject("full", func(o *input.Object) {
		f := reader{o}
		w.Full = &full{f.share("calls"), w.spans(f.dark(1))}
	})
	r.OptionalObject("updates", func(o *input.Object) {
		u, random := reader{o}, [2]int{}
		if hours, given := o.Integers("randomHours", &input.List{Least: 2, Most: 2, Repeats: true, Of: &input.Integer{Least: 1, Most: 23}}); given && len(hours) == 2 {
			random = [2]int{int(hours[0]), int(hours[1])}
		}
		u.must(random[0] <= random[1], "randomHours", "must be two numbers, the second not less than the first")
		w.Updates = &updates{Zones: o.Texts("zones", calendar.ZoneRule, 1, mostItems), RandomHours: random}
		u.list("windows", func(h reader) {
			w.Updates.Windows = append(w.Updates.Windows, hours{h.share("plants"), calendar.ReadHours(h.Object)})
		})
		u.list("pauses", func(p reader) {
			w.Updates.Pauses = append(w.Updates.Pauses, pause{p.share("plants"), p.duration("start"), p.duration("for")})
		})
	})
}

func (r reader) must(holds bool, name, detail string) {
	if !holds {
		r.Fault(name, "range", detail)
	}
}

func (r reader) flag(name string) bool {
	is, _ := r.OptionalBoolean(name)
	return is
}

func (r reader) number(name string, least, most int64, or int) int {
	n, given := r.OptionalInteger(name, &input.Integer{Least: least, Most: most})
	if !given {
		return or
	}
	return int(n)
}

// share reads a share; 0 if there is none.
func (r reader) share(name string) float64 {
	n, _, _ := r.OptionalNumber(name)
	r.must(n >= 0 && n <= 1, name, "must be a share from 0 to 1")
	return n
}

// pair reads two numbers.
func (r reader) pair(name string, least, most int64, or ...int64) []int64 {
	list, given := r.Integers(name, &input.List{Least: 2, Most: 2, Repeats: true, Of: &input.Integer{Least: least, Most: most}})
	if !given || len(list) != 2 {
		return or
	}
	return list
}

func (r reader) list(name string, read func(reader)) {
	r.OptionalObjects(name, 0, mostItems, func(o *input.Object) { read(reader{o}) })
}

// duration reads an ISO 8601 duration; 0 if there is none.
func (r reader) duration(name string) time.Duration {
	text, _ := r.OptionalText(name, &input.Text{Says: "a duration such as PT2H or P1DT3H (ISO 8601), of 30 days at most", Check: func(text string) bool {
		_, ok := guard.ParseDuration(text)
		return ok
	}})
	d, _ := guard.ParseDuration(text)
	return d
}

// dark reads on which days and between which times of day some plants are off.
func (r reader) dark(plants float64) dark {
	h, d := calendar.ReadHours(r.Object), dark{Plants: plants}
	if d.From, d.To = clock(h.From), clock(h.To); d.To < d.From {
		d.To += 24 * time.Hour
	}
	for i, name := range calendar.Days {
		d.Days[i] = slices.Contains(h.Days, name)
	}
	return d
}

// clock is a time of day since midnight.
func clock(text string) time.Duration {
	var hours, minutes int
	_, _ = fmt.Sscanf(text, "%d:%d", &hours, &minutes) // a wrong one is a fault
	return time.Duration(60*hours+minutes) * time.Minute
}

func (r reader) urgency() release.Urgency {
	kind, _ := r.OptionalText("kind", &input.Text{Pattern: "regular|security", Says: "regular or security"})
	deadline, _ := r.OptionalText("deadline", &input.Text{Says: "a number of days such as P3D", Check: func(text string) bool {
		return release.Urgency{Deadline: text}.Until(time.Time{}) != nil
	}})
	return release.Urgency{Kind: release.Purpose(kind), Deadline: deadline}
}

// effect reads what a release does to some boxes.
func (r reader) effect(stones int) effect {
	e := effect{
		Share: r.share("share"), Clustered: r.share("clustered"), Stone: r.number("stone", 0, int64(stones), 0),
		Does:     r.Text("does", &input.Text{Pattern: strings.Join([]string{fails, bricks, reverts, defers, cuts}, "|"), Says: "fail, brick, revert, defer or cut"}),
		Attempts: r.number("attempts", 0, report.MostAttempts-1, 0), Every: r.duration("every"), For: r.duration("for"),
	}
	e.Kind, _ = r.OptionalText("kind", &input.Text{Says: "name=value", Check: func(text string) bool { return strings.Contains(text, "=") }})
	code, _ := r.OptionalText("code", &input.Text{Says: "a failure code", Check: func(text string) bool { return slices.Contains(report.Codes, report.FailureCode(text)) }})
	e.Code = report.FailureCode(code)
	after, _ := r.OptionalText("after", &input.Text{Says: "powerUp, or a duration such as PT2H (ISO 8601)", Check: func(text string) bool {
		_, ok := guard.ParseDuration(text)
		return ok || text == powerUp
	}})
	e.After, _ = guard.ParseDuration(after)
	e.Until = r.duration("until")
	if e.PowerUps = r.number("powerUps", 1, mostDays, 0); after == powerUp {
		e.PowerUps = max(1, e.PowerUps)
	}
	r.must(e.PowerUps == 0 || after == powerUp, "powerUps", "must be given with after, powerUp")
	r.must(e.Stone == 0 || (e.Does == fails || e.Does == bricks) && after == "", "stone", "on a stone, boxes fail or brick at once")
	r.must(e.Until == 0 || e.PowerUps == 0 && e.Until >= e.After, "until", "must not be less than after")
	r.must(e.Every == 0 || e.Does == reverts, "every", "is a field of revert alone")
	r.must(e.For == 0 || e.Does == defers, "for", "is a field of defer alone")
	r.must(e.Does == fails || e.Code == "" && e.Attempts == 0, "does", "code and attempts are fields of fail alone")
	if e.Does == fails {
		e.Code = cmp.Or(e.Code, report.CodeOther)
	}
	return e
}
