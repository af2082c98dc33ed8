package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"wavegate/shared/fleet/exact"
	"wavegate/shared/fleet/guard"
)

// plants is how many plants the boxes of a fleet are spread over. A plant is on or off as a whole.
const plants = 200

// Times of a trial, in minutes since the stage's start.
const (
	hour    = 60
	soak    = 24 * hour
	horizon = 72 * hour
)

// A weather switches plants off and on.
type weather struct {
	name string
	// start tells whether a plant is on when the stage begins, and when it is switched next; horizon: never.
	start func(r *rand.Rand, w *world, plant int) (on bool, next int)
	// next is when a plant is switched again that was switched just now.
	next func(r *rand.Rand, w *world, plant, now int, on bool) int
}

// A world is one trial: boxes by plant, and what is seen of them.
type world struct {
	treated, control         [plants]int
	treatedDead, controlDead [plants]int // of those, the ones that are silent while their plant is on
	on, seen                 [plants]bool
	// treatedSeen and controlSeen are the boxes that were seen since the stage began.
	treatedSeen, controlSeen guard.Group
	common                   int // when plants go dark together
}

// always is a weather in which plants stay as they start.
func always(name string, off float64) weather {
	return weather{name, func(r *rand.Rand, _ *world, _ int) (bool, int) { return r.Float64() >= off, horizon }, nil}
}

// outages switches each plant off and on by itself: off for four hours in the mean, and for a share of the time.
func outages(off float64) weather {
	const mean = 4 * hour
	wait := func(r *rand.Rand, now int, on bool) int {
		stay := float64(mean)
		if on {
			stay *= (1 - off) / off
		}
		return now + 1 + int(r.ExpFloat64()*stay)
	}
	return weather{fmt.Sprintf("%g %% of the plants off, others each hour", 100*off),
		func(r *rand.Rand, _ *world, _ int) (bool, int) {
			on := r.Float64() >= off
			return on, wait(r, 0, on)
		},
		func(r *rand.Rand, _ *world, _, now int, on bool) int { return wait(r, now, on) },
	}
}

// together switches a share of all plants off at one moment, for good.
func together(off float64) weather {
	return weather{fmt.Sprintf("%g %% of the plants go dark together", 100*off),
		func(r *rand.Rand, w *world, _ int) (bool, int) {
			if r.Float64() < off {
				return true, w.common
			}
			return true, horizon
		},
		func(*rand.Rand, *world, int, int, bool) int { return horizon },
	}
}

// nights switches half of the plants off for ten hours a day, all at once to the hour.
var nights = weather{"half of the plants off at night",
	func(_ *rand.Rand, w *world, plant int) (bool, int) {
		if plant%2 == 0 {
			return true, horizon
		}
		return true, w.common + plant%60
	},
	func(_ *rand.Rand, _ *world, _, now int, on bool) int {
		if on {
			return now + 14*hour
		}
		return now + 10*hour
	},
}

// deadShare is the share of boxes that fall silent by themselves, whether they have the release or not.
const deadShare = 0.005

// newWorld places boxes. Which box of a plant has the release is a matter of chance.
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

// shares lists each plant as often as it has boxes: the largest tenth of the plants has 40 percent of them.
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

// A silenceRule judges silence at a look: whether it halts, and whether it would let the stage pass.
type silenceRule struct {
	name   string
	halts  func(m *memory, g groups) bool
	passes func(m *memory, g groups) bool
}

// groups is what a rule looks at.
type groups struct {
	treated, control guard.Group
	minute           int // since the stage began
	kept             bool
}

// differs tells whether more of the treated are silent than is acceptable, and than of the control. Wald's test
// does not halt otherwise.
func (g groups) differs() bool {
	share := float64(g.treated.Silent) / float64(g.treated.Boxes)
	return share > bounds.Acceptable && share*float64(g.control.Boxes) > float64(g.control.Silent)
}

var silenceRules = []silenceRule{
	{"guard", func(m *memory, g groups) bool {
		return !g.kept && g.differs() && m.of(g.control).comparison.Halts(g.treated, guard.Level(1+g.minute))
	}, func(m *memory, g groups) bool {
		if g.treated.Boxes < test.Needs() {
			return g.treated.Silent == 0
		}
		return m.of(g.control).comparison.Clears(g.treated)
	}},
	{"Wald's limits at the control's upper bound", func(m *memory, g groups) bool {
		return g.differs() && m.of(g.control).upper.Halts(g.treated.Silent, g.treated.Boxes)
	}, func(m *memory, g groups) bool {
		return m.of(g.control).upper.Clears(g.treated.Silent, g.treated.Boxes)
	}},
	{"over 5 % silent, no control", func(_ *memory, g groups) bool {
		return g.treated.Boxes >= 20 && 20*g.treated.Silent > g.treated.Boxes
	}, func(*memory, groups) bool { return true }},
}

// mostControl is the largest control.
const mostControl = 1000

// A memory holds what was prepared for each control: that is dear, and the same controls come again and again.
type memory [mostControl + 1][mostControl + 1]atomic.Pointer[prepared]

// prepared is what the rules need of a control. The upper bound is tested against 4 points more, or 10 points
// from 20 percent on.
type prepared struct {
	comparison guard.Comparison
	upper      guard.Wald
}

func (m *memory) of(control guard.Group) *prepared {
	at := &m[control.Boxes][control.Silent]
	if p := at.Load(); p != nil {
		return p
	}
	usual, more := max(bounds.Acceptable, exact.Upper(control.Silent, control.Boxes, 0.025)), 0.04
	if usual >= 0.2 {
		more = 0.10
	}
	p := &prepared{bounds.Compare(control), guard.NewWald(min(usual, 0.998), min(usual+more, 0.999))}
	at.Store(p)
	return p
}

// A scenario is a release and what becomes of the plants while it is at a stage.
type scenario struct {
	weather          weather
	treated, control int     // boxes of the two samples
	bricked          float64 // the share of boxes that the release bricks
	// kept is set for the last stage: the control is what it was when the stage began.
	kept bool
}

// trial follows a stage for three days. The rules look whenever something has changed, and when the soak ends.
// A look each minute says nothing else: without a change, the level of a halt only falls.
func (s scenario) trial(r *rand.Rand, m *memory) []result {
	w := newWorld(r, s)
	// due is the plant that is switched in each minute, plus one, and also the next one in the same minute.
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
	before := w.controlSeen
	results := make([]result, len(silenceRules))
	first := int(bounds.SilentAfter.Length() / time.Minute)
	for minute := range horizon {
		for next := due[minute]; next > 0; {
			plant := int(next - 1)
			next = also[plant]
			w.turn(plant, !w.on[plant])
			schedule(plant, s.weather.next(r, w, plant, minute, w.on[plant]))
		}
		if minute < first || due[minute] == 0 && minute != first && minute != soak {
			continue
		}
		g := groups{w.treatedSeen, w.controlSeen, minute, s.kept}
		if s.kept {
			g.control = before
		}
		if !look(m, g, results) {
			break
		}
	}
	return results
}

// look shows the groups to all rules that have not decided yet, and tells whether there are any.
func look(m *memory, g groups, results []result) (more bool) {
	for i, rule := range silenceRules {
		switch {
		case results[i].outcome != held:
		case rule.halts(m, g):
			results[i] = result{halted, g.minute}
		case g.minute >= soak && rule.passes(m, g):
			results[i] = result{promoted, g.minute}
		default:
			more = true
		}
	}
	return more
}

func (s scenario) name() string {
	control := fmt.Sprint(s.control)
	if s.kept {
		control += ", before"
	}
	return fmt.Sprintf("%s | %d | %s", s.weather.name, s.treated, control)
}

func (s scenario) run(m *memory, trials int) []tally {
	return run(fmt.Sprintf("silence %s %g", s.name(), s.bricked), trials, len(silenceRules), func(r *rand.Rand) []result { return s.trial(r, m) })
}

// fleets are what becomes of the plants, and the sizes of the samples.
var fleets = []scenario{
	{weather: always("all plants on", 0), treated: 1000, control: 1000},
	{weather: outages(0.02), treated: 1000, control: 1000},
	{weather: outages(0.05), treated: 1000, control: 1000},
	{weather: outages(0.17), treated: 1000, control: 1000},
	{weather: outages(0.30), treated: 1000, control: 1000},
	{weather: outages(0.17), treated: 1000, control: 100},
	{weather: outages(0.05), treated: 300, control: 300},
	{weather: outages(0.05), treated: 30, control: 1000},
	{weather: always("30 % of the plants off from the start", 0.3), treated: 1000, control: 1000},
	{weather: together(0.30), treated: 1000, control: 1000},
	{weather: nights, treated: 1000, control: 1000},
	{weather: nights, treated: 1000, control: 1000, kept: true},
}

// bricks are the shares of boxes that releases brick.
var bricks = []float64{0, 0.05}

func writeSilence(w io.Writer, trials int) {
	fmt.Fprintf(w, silenceText, plants)
	m := &memory{}
	for _, bricked := range bricks {
		fmt.Fprintf(w, "### The release bricks %g percent of the boxes\n\n| plants | boxes with the release | control |", 100*bricked)
		for _, rule := range silenceRules {
			fmt.Fprintf(w, " %s |", rule.name)
		}
		fmt.Fprintf(w, "\n|---|---|---|%s\n", strings.Repeat("---|", len(silenceRules)))
		for _, s := range fleets {
			s.bricked = bricked
			fmt.Fprintf(w, "| %s |", s.name())
			for _, t := range s.run(m, trials) {
				fmt.Fprintf(w, " %s |", t.cell())
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
}
