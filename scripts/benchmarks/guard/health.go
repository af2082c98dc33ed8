package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
)

// A work is a fleet whose boxes say health numbers. Its looks are played on the rule alone: each stage has soaked and is
// otherwise clear. Everything is drawn for each seed.
type work struct {
	Boxes, Plants, Lines int     // lines of a plant, which each have a level and changes of their own
	Noise                float64 // of a box's mean, both times
	Least, Most          float64 // by how much a line changes between before and now, up or down
	Changing             float64 // the share of the lines that do
	Worse                float64 // by how much boxes are slower with the release
	Crash                float64 // the share of the boxes that crash once a day with the release
	Numbers              int     // that the policy judges; all but the first two are good
	Renamed              float64 // the share of the boxes that do not say a number with the release
	SilentWorst          bool    // those that are slowest with the release say nothing
	Unit                 float64 // by which the release multiplies the number
	Fixes                bool    // boxes crash twice a day without the release
	Wild                 bool    // one reached box says the greatest number that counts
	Off                  float64 // the share of the plants that are switched off
	Organizations        int
	OneOrganization      bool    // only the boxes of one organization get worse
	NoNumber             float64 // the share of the boxes whose clients say nothing
}

// normal is a fleet of two lines a plant, of which all change by 30 to 50 percent.
var normal = work{Boxes: 12000, Plants: 200, Lines: 2, Noise: 0.1, Least: 0.3, Most: 0.5, Changing: 1, Numbers: 2, Unit: 1, Organizations: 20}

func with(change func(*work)) work {
	w := normal
	change(&w)
	return w
}

// works are what is played, in this order.
var works = []struct {
	name string
	work
}{
	{"health-good", normal},
	{"health-good-8-numbers", with(func(w *work) { w.Numbers = 8 })},
	{"health-good-1000", with(func(w *work) { w.Boxes, w.Plants = 1000, 30 })},
	{"health-good-one-plant", with(func(w *work) { w.Boxes, w.Plants, w.Lines = 1000, 1, 1 })},
	{"health-good-one-plant-two-lines", with(func(w *work) { w.Boxes, w.Plants = 1000, 1 })},
	{"health-good-alone", with(func(w *work) { w.Plants, w.Lines, w.Changing = 12000, 1, 0.3 })},
	{"health-slower-10-alone", with(func(w *work) { w.Worse, w.Plants, w.Lines, w.Changing = 0.1, 12000, 1, 0.3 })},
	{"health-good-product-changes", with(func(w *work) { w.Changing, w.Least, w.Most = 0.3, 0.5, 3 })},
	{"health-good-weekend", with(func(w *work) { w.Off = 0.3 })},
	{"health-good-1-percent-slower", with(func(w *work) { w.Worse = 0.01 })},
	{"health-slower-5", with(func(w *work) { w.Worse, w.Lines = 0.05, 1 })},
	{"health-slower-5-two-lines", with(func(w *work) { w.Worse = 0.05 })},
	{"health-slower-5-of-1000", with(func(w *work) { w.Worse, w.Lines, w.Boxes, w.Plants = 0.05, 1, 1000, 30 })},
	{"health-slower-5-two-lines-one-number", with(func(w *work) { w.Worse, w.Numbers = 0.05, 1 })},
	{"health-slower-5-of-1000-one-number", with(func(w *work) { w.Worse, w.Numbers, w.Lines, w.Boxes, w.Plants = 0.05, 1, 1, 1000, 30 })},
	{"health-slower-10-of-1000", with(func(w *work) { w.Worse, w.Lines, w.Boxes, w.Plants = 0.1, 1, 1000, 30 })},
	{"health-slower-10-two-lines-of-1000", with(func(w *work) { w.Worse, w.Boxes, w.Plants = 0.1, 1000, 30 })},
	{"health-crash-20", with(func(w *work) { w.Crash = 0.2 })},
	{"health-crash-20-of-1000", with(func(w *work) { w.Crash, w.Boxes, w.Plants = 0.2, 1000, 30 })},
	{"health-crash-5", with(func(w *work) { w.Crash = 0.05 })},
	{"health-renamed", with(func(w *work) { w.Renamed = 1 })},
	{"health-renamed-in-20", with(func(w *work) { w.Renamed = 0.2 })},
	{"health-unit", with(func(w *work) { w.Unit = 1000 })},
	{"health-thousandth", with(func(w *work) { w.Unit = 0.001 })},
	{"health-thousandth-of-1000", with(func(w *work) { w.Unit, w.Boxes, w.Plants = 0.001, 1000, 30 })},
	{"health-nothing", with(func(w *work) { w.Unit = 0 })},
	{"health-nothing-of-1000", with(func(w *work) { w.Unit, w.Boxes, w.Plants = 0, 1000, 30 })},
	{"health-third-alone", with(func(w *work) { w.Unit, w.Plants, w.Lines, w.Changing = 0.33, 12000, 1, 0.3 })},
	{"health-good-fix", with(func(w *work) { w.Fixes = true })},
	{"health-silences-the-worst", with(func(w *work) { w.Worse, w.SilentWorst = 0.05, true })},
	{"health-one-wild-box", with(func(w *work) { w.Wild = true })},
	{"health-plants-off", with(func(w *work) { w.Off = 0.6 })},
	{"health-one-organization", with(func(w *work) { w.Worse, w.OneOrganization, w.Organizations, w.Lines = 0.3, true, 4, 1 })},
	{"health-old-clients", with(func(w *work) { w.NoNumber = 0.6 })},
}

// a laborer is a box with what it said before and would say with and without the release.
type laborer struct {
	worker       guard.Worker
	first        int // the stage that reaches it
	with, before map[string]float64
	without      map[string]float64
	hash         uint64
}

// fleetOf draws the boxes.
func (w work) fleetOf(seed int) []laborer {
	random := rand.New(rand.NewPCG(uint64(seed), 4))
	level, change, off := map[int]float64{}, map[int]float64{}, map[int]bool{}
	for line := range w.Plants * w.Lines {
		level[line], change[line] = 10*math.Exp(random.NormFloat64()), 1
		if random.Float64() < w.Changing {
			change[line] = 1 + w.Least + random.Float64()*(w.Most-w.Least)
			if random.IntN(2) == 0 {
				change[line] = 1 / change[line]
			}
		}
		off[line/w.Lines] = random.Float64() < w.Off
	}
	list := make([]laborer, w.Boxes)
	for i := range list {
		line := random.IntN(w.Plants * w.Lines)
		plant, id := line/w.Lines, fmt.Sprintf("box-%d-%05d", seed, i)
		l := laborer{first: cohort.FirstStage(edgeType, target, id), hash: random.Uint64(), with: map[string]float64{}, before: map[string]float64{}, without: map[string]float64{}}
		l.worker = guard.Worker{Factory: fmt.Sprint("plant-", plant), Organization: fmt.Sprint("organization-", plant%w.Organizations)}
		worse := w.Worse
		if w.OneOrganization && plant%w.Organizations != 0 {
			worse = 0
		}
		w.draws(l, level[line], change[line], worse, random)
		if off[plant] || random.Float64() < w.NoNumber {
			l.with, l.without, l.before = nil, nil, nil
		}
		list[i] = l
	}
	if w.Wild {
		i := slices.IndexFunc(list, func(l laborer) bool { return l.first == 1 && l.with != nil })
		list[i].with["number-0"] = 1e12
	}
	slices.SortFunc(list, func(a, b laborer) int { return cmp.Compare(a.hash, b.hash) })
	return list
}

// draws draws what a box says: number-1 counts crashes, of which there are few anyway, and number-0 may be worse with the release.
func (w work) draws(l laborer, level, change, worse float64, random *rand.Rand) {
	noisy := func() float64 { return max(1+w.Noise*random.NormFloat64(), 0.1) }
	count := func(share float64) (crashes float64) {
		if random.Float64() < share {
			crashes = 1
		}
		return crashes
	}
	for n := range w.Numbers {
		name := fmt.Sprint("number-", n)
		if n == 1 {
			l.before[name], l.without[name] = count(0.01), count(0.01)
			if l.with[name] = max(l.without[name], count(w.Crash)); w.Fixes {
				l.before[name], l.without[name], l.with[name] = 2, 2, 0
			}
			continue
		}
		l.before[name], l.without[name] = level*noisy(), level*change*noisy()
		l.with[name] = l.without[name]
		if n > 0 {
			continue
		}
		l.with[name] *= (1 + worse) * w.Unit
		if w.SilentWorst && l.with[name] > 1.15*l.before[name]*change || random.Float64() < w.Renamed {
			delete(l.with, name)
		}
	}
}

// play looks at each stage until the rule halts, and says how it ended.
func (w work) play(seed int) (end string, stage int, sentence string) {
	list := w.fleetOf(seed)
	p := guard.Default()
	p.Promote.Auto, p.Health = true, map[string]guard.Number{}
	for n := range w.Numbers {
		p.Health[fmt.Sprint("number-", n)] = guard.Number{Is: "gauge", Worse: "higher", By: 0.01}
	}
	if w.Numbers > 1 {
		p.Health["number-1"] = guard.Number{Is: "counter", Worse: "higher", By: 0.2}
	}
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	var looks []guard.Comparison
	for _, stage := range []int{1, 10, 50} {
		at := start.Add(8 * 24 * time.Hour)
		e := guard.Evidence{Active: true, Stage: stage, Since: start, AsOf: at, CountedAt: stage, Kinds: []guard.Kind{}, Numbers: looks,
			Taken: &guard.Taken{Boxes: 1000, Good: 1000, Needed: 800}}
		asked, watched := map[bool]int{}, map[int]int{}
		for _, percent := range cohort.Stages {
			e.Stages = append(e.Stages, guard.StageBoxes{Percent: percent, Start: start, Counts: guard.Counts{Expected: w.Boxes * percent / 100, Installed: w.Boxes * min(percent, stage) / 100}})
		}
		for i := range w.Organizations {
			e.Organizations = append(e.Organizations, guard.Organization{ID: fmt.Sprint("organization-", i), Parts: make([]guard.Share, len(cohort.Stages))})
		}
		for _, l := range list {
			reached := l.first <= stage
			if asked[reached]++; asked[reached] > bell.AskedSize {
				continue
			}
			group := l.first
			if !reached {
				group = 0
			}
			watched[group]++
			one := l.worker
			one.Watched = watched[group] <= bell.SampleSize
			if one.Before, one.Now = l.before, l.without; reached {
				one.Reached, one.Now = true, l.with
			}
			e.Workers = append(e.Workers, one)
		}
		v := guard.Decide(p, e, at)
		switch looks = v.Health; {
		case v.Action == guard.Halt:
			return "halted", stage, v.Sentence
		case v.Organization != "" || slices.Contains(v.Reasons, guard.Unreported), slices.Contains(v.Reasons, guard.MeterChanged):
			return "held", stage, v.Sentence
		case v.Action != guard.Promote:
			return "odd", stage, v.Sentence
		}
		start = at
	}
	return "passed", 50, ""
}

// reportHealth plays all works, or only one, and writes a table.
func reportHealth(out io.Writer, seeds int, only string) {
	fmt.Fprintln(out, "| world | boxes | fleets | passed | halted at 1, 10, 50 | held at 1, 10, 50 | a sentence |\n|---|--:|--:|--:|---|---|---|")
	for _, w := range works {
		if only != "" && only != w.name {
			continue
		}
		counts, said := map[string]int{}, ""
		for seed := range seeds {
			end, stage, sentence := w.play(seed + 1)
			if counts[fmt.Sprint(end, stage)]++; sentence != "" && (said == "" || seed == 0) {
				said = sentence
			}
		}
		at := func(end string) string {
			return fmt.Sprintf("%d, %d, %d", counts[end+"1"], counts[end+"10"], counts[end+"50"])
		}
		odd := ""
		if counts["odd1"]+counts["odd10"]+counts["odd50"] > 0 {
			odd = " ODD "
		}
		fmt.Fprintf(out, "| %s | %d | %d | %d | %s | %s | %s%s |\n", w.name, w.Boxes, seeds, counts["passed50"], at("halted"), at("held"), odd, said)
	}
}
