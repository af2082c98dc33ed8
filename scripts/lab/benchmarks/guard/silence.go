package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"wavegate/shared/fleet/guard"
)

// plants is how many plants the boxes of a fleet are in. A plant is on or off as a whole.
const plants = 200

// Times of a trial, in minutes since the stage's start.
const (
	hour    = 60
	soak    = 24 * hour
	horizon = 72 * hour
)

// deadShare is the share of boxes that fall silent by themselves, with the release or without.
const deadShare = 0.005

// A scenario is a release and what happens to the plants while it is at a stage.
type scenario struct {
	weather          weather
	treated, control int     // boxes of the two samples
	bricked          float64 // the share of boxes that the release bricks
	before           bool    // at the last stage: the control is what it was when the stage began
}

// scenarios are what happens to the plants, and the sizes of the samples.
var scenarios = []scenario{
	{weather: constant("all plants on", 0), treated: 1000, control: 1000},
	{weather: outages(0.02), treated: 1000, control: 1000},
	{weather: outages(0.05), treated: 1000, control: 1000},
	{weather: outages(0.17), treated: 1000, control: 1000},
	{weather: outages(0.30), treated: 1000, control: 1000},
	{weather: outages(0.17), treated: 1000, control: 100},
	{weather: outages(0.05), treated: 300, control: 300},
	{weather: outages(0.05), treated: 30, control: 1000},
	{weather: constant("30 % of the plants off from the start", 0.3), treated: 1000, control: 1000},
	{weather: together(0.30), treated: 1000, control: 1000},
	{weather: nights, treated: 1000, control: 1000},
	{weather: nights, treated: 1000, control: 1000, before: true},
}

// A world is one trial: boxes by plant, and what is seen of them.
type world struct {
	treated, control         [plants]int
	treatedDead, controlDead [plants]int // of those, the ones that are silent while their plant is on
	on, seen                 [plants]bool
	// treatedSeen and controlSeen are the boxes that were seen since the stage began.
	treatedSeen, controlSeen guard.Group
	common                   int // the minute of what happens to many plants at once
}

// newWorld places boxes. Chance decides which boxes of a plant have the release.
func newWorld(r *rand.Rand, s scenario) *world {
	w := &world{common: 1 + r.IntN(20*hour)}
	place := func(n int, dead float64, boxes, deads *[plants]int) {
		for range n {
			plant := shares[r.IntN(len(shares))]
			boxes[plant]++
			deads[plant] += toInt(r.Float64() < dead)
		}
	}
	place(s.treated, deadShare+s.bricked, &w.treated, &w.treatedDead)
	place(s.control, deadShare, &w.control, &w.controlDead)
	return w
}

// shares lists each plant as often as it has boxes. The largest tenth of the plants has 40 percent of them.
var shares = func() []int {
	r := rand.New(rand.NewPCG(1, 1))
	var list []int
	for plant := range plants {
		for range 1 + int(100*math.Exp(r.NormFloat64())) {
			list = append(list, plant)
		}
	}
	return list
}()

// turn switches a plant. Its boxes count once they are first seen.
func (w *world) turn(plant int, on bool) {
	if !w.seen[plant] && on {
		w.seen[plant] = true
		w.treatedSeen.Boxes += w.treated[plant]
		w.treatedSeen.Silent += w.treatedDead[plant]
		w.controlSeen.Boxes += w.control[plant]
		w.controlSeen.Silent += w.controlDead[plant]
	} else if w.seen[plant] && on != w.on[plant] {
		sign := 1
		if on {
			sign = -1
		}
		w.treatedSeen.Silent += sign * (w.treated[plant] - w.treatedDead[plant])
		w.controlSeen.Silent += sign * (w.control[plant] - w.controlDead[plant])
	}
	w.on[plant] = on
}

// A silenceRule judges silence at a look: whether it halts, and whether it lets the stage pass.
type silenceRule struct {
	name          string
	halts, passes func(look) bool
}

// A look is what a rule sees.
type look struct {
	treated, control guard.Group
	minute           int // since the stage began
	before           bool
}

var silenceRules = []silenceRule{
	{"guard", func(l look) bool {
		// The comparison does not halt where the treated are no more silent than is acceptable, or than the control.
		share := float64(l.treated.Silent) / float64(l.treated.Boxes)
		return !l.before && share > bounds.Acceptable && share*float64(l.control.Boxes) > float64(l.control.Silent) &&
			compare(l.control).Halts(l.treated, guard.Level(1+l.minute))
	}, func(l look) bool {
		if l.treated.Boxes < test.Needs() {
			return l.treated.Silent == 0
		}
		return compare(l.control).Clears(l.treated)
	}},
	{"over 5 % silent, no control", func(l look) bool {
		return l.treated.Boxes >= 20 && 20*l.treated.Silent > l.treated.Boxes
	}, func(look) bool { return true }},
}

var comparisons sync.Map

// compare keeps the comparison with each control: the same controls come again, and preparing them takes long.
func compare(control guard.Group) guard.Comparison {
	kept, ok := comparisons.Load(control)
	if !ok {
		kept, _ = comparisons.LoadOrStore(control, bounds.Compare(control))
	}
	return kept.(guard.Comparison) //nolint:forcetypeassert // the map has no other values
}

// trial follows a stage for three days. The rules look whenever something has changed, and when the soak ends.
// Looks in between would change nothing: the level of a halt only falls.
func (s scenario) trial(r *rand.Rand) []result {
	w := newWorld(r, s)
	// due is the plant that is switched in a minute, plus one; also is the next one of the same minute.
	var due [horizon]int16
	var also [plants]int16
	schedule := func(plant, minute int) {
		if minute < horizon {
			due[minute], also[plant] = int16(plant+1), due[minute]
		}
	}
	for plant := range plants {
		on, next := s.weather.start(r, w, plant)
		w.turn(plant, on)
		schedule(plant, next)
	}
	atStart := w.controlSeen
	results := make([]result, len(silenceRules))
	first := int(bounds.SilentAfter.Length() / time.Minute)
	for minute := range horizon {
		for next := due[minute]; next > 0; {
			plant := int(next - 1)
			next = also[plant]
			w.turn(plant, !w.on[plant])
			schedule(plant, s.weather.next(r, minute, w.on[plant]))
		}
		if minute < first || due[minute] == 0 && minute != first && minute != soak {
			continue
		}
		l := look{w.treatedSeen, w.controlSeen, minute, s.before}
		if s.before {
			l.control = atStart
		}
		if !l.judge(results) {
			break
		}
	}
	return results
}

// judge asks all rules that have not decided yet, and tells whether any are left.
func (l look) judge(results []result) (more bool) {
	for i, rule := range silenceRules {
		switch {
		case results[i].outcome != held:
		case rule.halts(l):
			results[i] = result{halted, l.minute}
		case l.minute >= soak && rule.passes(l):
			results[i] = result{promoted, l.minute}
		default:
			more = true
		}
	}
	return more
}

func (s scenario) name() string {
	control := fmt.Sprint(s.control)
	if s.before {
		control += ", before"
	}
	return fmt.Sprintf("%s | %d | %s", s.weather.name, s.treated, control)
}

func (s scenario) run(trials int) []tally {
	return run(fmt.Sprintf("silence %s %g", s.name(), s.bricked), trials, len(silenceRules), s.trial)
}

func writeSilence(w io.Writer, trials int) {
	fmt.Fprintf(w, silenceText, plants)
	for _, bricked := range []float64{0, 0.05} {
		fmt.Fprintf(w, "### The release bricks %g percent of the boxes\n\n| plants | boxes with the release | control |", 100*bricked)
		for _, rule := range silenceRules {
			fmt.Fprintf(w, " %s |", rule.name)
		}
		fmt.Fprintf(w, "\n|---|---|---|%s\n", strings.Repeat("---|", len(silenceRules)))
		for _, s := range scenarios {
			s.bricked = bricked
			writeRow(w, s.name(), s.run(trials))
		}
		fmt.Fprintln(w)
	}
}
