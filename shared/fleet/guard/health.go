package guard

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// A Number is how a policy judges a health number: one that boxes say about their work, as their own mean or sum of the last
// 24 hours.
type Number struct {
	Is    string `json:"is"`
	Worse string `json:"worse"`
	// By is the share by which the number may be worse with the release; 0.01 is one percent.
	By float64 `json:"by"`
	// Expects is better if the number may become much better with the release; otherwise empty.
	Expects string `json:"expects,omitempty"`
}

// What a number is, and when it is worse. A counter is worse if it is higher.
const (
	gauge   = "gauge"
	counter = "counter"
	higher  = "higher"
	lower   = "lower"
)

// MostNumbers limits the health numbers of a policy.
const MostNumbers = 8

// A Worker is a box that is asked for its health numbers. Before are those that it said before it ran the release, and Now
// those of the last day; a number that it does not say is missing.
type Worker struct {
	Reached               bool // by the release, whatever happened then
	Watched               bool // it polls often, so what it does not say is missing
	Factory, Organization string
	Before, Now           map[string]float64
}

// says reports whether the box says a number, now and before.
func (w Worker) says(name string) bool {
	_, before := w.Before[name]
	_, now := w.Now[name]
	return before && now
}

// A Saying counts the boxes that are asked for a number, and those that say it. Now is what these say: the median of a gauge,
// and the mean of a counter.
type Saying struct {
	Boxes int     `json:"boxes"`
	Said  int     `json:"said"`
	Now   float64 `json:"now"`
}

// A Reading is what boxes say of a health number at a time, with the release and without it.
type Reading struct {
	Name    string    `json:"name"`
	At      time.Time `json:"at"`
	Reached Saying    `json:"reached"`
	Control Saying    `json:"control"`
}

// Readings reads each number of the policy.
func (p Policy) Readings(workers []Worker, at time.Time) (list []Reading) {
	for _, name := range slices.Sorted(maps.Keys(p.Health)) {
		r := p.Health[name].reading(name, workers)
		r.At = at
		list = append(list, r)
	}
	return list
}

func (n Number) reading(name string, workers []Worker) Reading {
	r, list := counted(name, workers), n.changes(name, workers)
	r.Reached.Now, r.Control.Now = n.now(name, list, true), n.now(name, list, false)
	return r
}

// counted counts the boxes that are asked for a number and those that say it.
func counted(name string, workers []Worker) Reading {
	r := Reading{Name: name}
	for _, w := range workers {
		if !w.Watched && !w.says(name) {
			continue
		}
		of := &r.Control
		if w.Reached {
			of = &r.Reached
		}
		if of.Boxes++; w.says(name) {
			of.Said++
		}
	}
	return r
}

// A Comparison is the guard's last comparison of a health number at a stage, which a survey makes.
type Comparison struct {
	Reading
	Percent int `json:"percent"`
	// More is how much higher the number is with the release, compared with before and with the other boxes: for a gauge as a
	// share, for a counter as a difference.
	More float64 `json:"more"`
	// Halts is set if the number is worse with the release. Only is the organization without which it would not be.
	Halts bool   `json:"halts,omitempty"`
	Only  string `json:"only,omitempty"`
	// Unreported is set if too few boxes say the number, or fewer of those that have the release.
	Unreported bool `json:"unreported,omitempty"`
	// Changed is set if the boxes with the release say another thing by the number.
	Changed bool `json:"changed,omitempty"`
	// Accepted is set once a person let the rollout go on although the number was worse.
	Accepted bool `json:"accepted,omitempty"`

	counts bool
}

// The probability that the comparisons of health numbers halt a good release is at most healthHalt, and that they hold it at most
// healthHold. Each number has the same share. A release is tested three times: whether most boxes are a little worse, whether
// they are if factories have several lines of which each changes for itself, and whether a few boxes are much worse.
const (
	healthHalt = 0.0025
	healthHold = 0.0075
	mostWorse  = 0.7 // of the level
	nearWorse  = 0.2
	fewWorse   = 0.1
	worst      = 0.05 // of the boxes are the few
	firstShare = 0.8  // of a stage's level

	fewestSaying = 10  // reached boxes, for a test
	saying       = 0.5 // of the boxes must say a number
)

// numberLevel is the part of a budget that a comparison at a stage may use. Few boxes have the release at stage 1, and say little
// about slow harm. The first comparison of a stage has most: what it does not find, one of nearly the same numbers a day later
// hardly does.
func numberLevel(budget float64, percent, number int) float64 {
	part := budget * 0.35
	switch percent {
	case 1:
		part = budget * 0.1
	case 10:
		part = budget * 0.55
	}
	if number == 1 {
		return part * firstShare
	}
	return part * (1 - firstShare) / float64(number*(number-1))
}

// together puts boxes that are alone in their factories together, as if they were in one. Chance has chosen those with the
// release among them, too, and there is nothing that a box has in common with others.
func together(workers []Worker) []Worker {
	boxes, list := map[string]int{}, slices.Clone(workers)
	for _, w := range workers {
		boxes[w.Factory]++
	}
	for i, w := range list {
		if boxes[w.Factory] == 1 {
			list[i].Factory = ""
		}
	}
	return list
}

// compare compares a number at a share of the budgets.
func (n Number) compare(name string, workers []Worker, share func(budget float64) float64) Comparison {
	c := Comparison{Reading: n.reading(name, workers), More: n.more(name, workers), counts: n.Is == counter}
	watched := slices.DeleteFunc(slices.Clone(workers), func(w Worker) bool { return !w.Watched })
	all, silent := make([]scored, len(watched)), make([]float64, len(watched))
	for i, w := range watched {
		if all[i].Worker = w; !w.says(name) {
			silent[i] = 1
		}
	}
	const half = 0.5
	if r := counted(name, watched); r.Reached.few() || r.Control.few() || drawn(all, silent, half) <= share(healthHold) {
		c.Unreported, c.Reading = true, n.reading(name, watched)
	}
	c.Changed = n.meter(name, workers, share(meterHold))
	if changes := n.changes(name, workers); n.harms(name, changes, share(healthHalt)) {
		c.Halts, c.Only = true, n.only(name, changes, share(healthHalt))
	}
	return c
}

// few reports whether too few boxes say a number.
func (s Saying) few() bool { return float64(s.Said) < saying*float64(s.Boxes) }

// only is the organization without whose boxes a number would not be worse, if those of the others contradict it. The boxes of
// a factory are of one organization, so the others' scores hardly depend on it.
func (n Number) only(name string, list []scored, level float64) string {
	reached, of := 0, map[string]int{}
	for _, s := range list {
		if s.Reached {
			reached, of[s.Organization] = reached+1, of[s.Organization]+1
		}
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		if reached-of[id] < OthersEnough || !worseThanOthers(list, id, contradiction/float64(len(of))) {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(list), func(s scored) bool { return s.Organization == id })
		if !n.harms(name, others, level) {
			return id
		}
	}
	return ""
}

// worseThanOthers reports whether the boxes of the other organizations contradict that a number is worse with the release: of the
// boxes that have it, those of the organization are worse than chance explains.
func worseThanOthers(all []scored, by string, level float64) bool {
	var list []scored
	for _, s := range all {
		if s.Reached {
			s.Factory, s.Reached = "", s.Organization == by
			list = append(list, s)
		}
	}
	most, few := chances(list)
	return min(most, few) <= level
}

// numbers compares the health numbers if a survey is taken, and keeps the last comparisons at the other stages. What was known when
// a person let the rollout go on does not halt it again.
func (d decision) numbers(surveys []Survey) []Comparison {
	e, taken := d.evidence, d.surveyed(surveys)
	var list []Comparison
	for _, c := range e.Numbers {
		if n, judged := d.policy.Health[c.Name]; judged {
			c.counts, c.Accepted = n.Is == counter, c.Accepted || c.Halts && !c.At.After(e.Resumed)
			list = append(list, c)
		}
	}
	if e.Workers != nil && taken.Number > 0 && taken.At.Equal(e.AsOf) && !slices.EqualFunc(surveys, e.Surveys, func(a, b Survey) bool { return a.At.Equal(b.At) }) {
		workers := together(e.Workers)
		for _, name := range slices.Sorted(maps.Keys(d.policy.Health)) {
			c := d.policy.Health[name].compare(name, workers, func(budget float64) float64 {
				return numberLevel(budget, e.Stage, taken.Number) / float64(len(d.policy.Health))
			})
			c.Percent, c.At = e.Stage, e.AsOf
			c.Accepted = slices.ContainsFunc(list, func(o Comparison) bool { return o.Name == name && o.Accepted && !e.leavesOut(o.Only) })
			list = append(slices.DeleteFunc(list, func(o Comparison) bool { return o.Name == name && o.Percent == e.Stage }), c)
		}
	}
	return list
}

// leavesOut reports whether an organization is named that has no boxes any more among those that are asked. What a person accepted of
// its boxes is nothing that the others have to bear.
func (e Evidence) leavesOut(organization string) bool {
	return organization != "" && !slices.ContainsFunc(e.Workers, func(w Worker) bool { return w.Organization == organization })
}

// compared reports whether there is a comparison of each number since the rollout got to its stage, or was resumed.
func (d decision) compared(all []Comparison) bool {
	for name := range d.policy.Health {
		if !slices.ContainsFunc(all, func(c Comparison) bool {
			return c.Name == name && c.Percent == d.evidence.Stage && !c.At.Before(d.evidence.Since)
		}) {
			return false
		}
	}
	return true
}

// worse is the test of health numbers, at any stage, and of whether boxes of the present one say them.
func (d decision) worse(all []Comparison) (list findings) {
	for _, c := range all {
		if c.Halts && !c.Accepted {
			list = append(list, finding{reason: HealthWorse, halts: true, only: []string{c.Only}, sentence: c.sentence()})
		}
		list.add(c.Changed && c.Percent == d.evidence.Stage && !(c.Halts && !c.Accepted), MeterChanged, c.another())
		list.add(c.Unreported && c.Percent == d.evidence.Stage, Unreported, c.missing())
	}
	return list
}

func (c Comparison) sentence() string {
	with := fmt.Sprintf("%d of %s that have the release", c.Reached.Said, boxes(c.Reached.Boxes))
	without := fmt.Sprintf("%d of %d that it did not reach", c.Control.Said, c.Control.Boxes)
	if c.counts {
		return fmt.Sprintf("%s is %.3g in %s, and %.3g in %s, in a day on average", c.Name, c.Reached.Now, with, c.Control.Now, without)
	}
	change := "higher"
	if c.More < 0 {
		change = "lower"
	}
	return fmt.Sprintf("%s is %.1f %% %s in %s, compared with %s", c.Name, 100*math.Abs(c.More), change, with, without)
}

func (c Comparison) another() string {
	return fmt.Sprintf("the meter has changed: %s is %.3g in %d boxes that have the release, and %.3g in %d that it did not reach; if this is what the release is for, "+
		"the policy may expect it to be better", c.Name, c.Reached.Now, c.Reached.Said, c.Control.Now, c.Control.Said)
}

func (c Comparison) missing() string {
	return fmt.Sprintf("%d of %s that have the release say %s, and %d of %d that it did not reach; to go on without this number, take it out of the policy",
		c.Reached.Said, boxes(c.Reached.Boxes), c.Name, c.Control.Said, c.Control.Boxes)
}
