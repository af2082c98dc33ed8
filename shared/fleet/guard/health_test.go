package guard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/testing/expect"
)

var lookedAt = time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)

// workers are 40 boxes in each of ten factories, which belong to two organizations. A quarter of them has the release. Each
// factory changed its product, and each box says about ten seconds. say changes what a box with the release says.
func workers(random *rand.Rand, say func(i int, now map[string]float64)) (list []guard.Worker) {
	for factory := range 10 {
		change := 0.6 + 0.1*float64(factory)
		for i := range 40 {
			noisy := func() float64 { return 10 * (1 + 0.05*random.NormFloat64()) }
			w := guard.Worker{Factory: fmt.Sprint(factory), Organization: fmt.Sprint("o", factory%2), Reached: i < 10, Watched: true,
				Before: map[string]float64{"cycle": noisy(), "crashes": 0}, Now: map[string]float64{"cycle": noisy() * change, "crashes": 0}}
			if w.Reached {
				say(factory*10+i, w.Now)
			}
			list = append(list, w)
		}
	}
	return list
}

// working is evidence with workers, of a stage that is otherwise clear.
func working(list []guard.Worker) (guard.Policy, guard.Evidence) {
	p := guard.Default()
	p.Promote.Auto = true
	p.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "higher", By: 0.01}, "crashes": {Is: "counter", Worse: "higher", By: 0.2}}
	start := lookedAt.Add(-8 * 24 * time.Hour)
	e := guard.Evidence{Active: true, Stage: 10, Since: start, AsOf: lookedAt, CountedAt: 10, Kinds: []guard.Kind{}, Workers: list,
		Taken:         &guard.Taken{Boxes: 1000, Good: 1000, Needed: 800},
		Organizations: []guard.Organization{{ID: "o0", Parts: make([]guard.Share, 4)}, {ID: "o1", Parts: make([]guard.Share, 4)}}}
	for _, percent := range []int{1, 10, 50, 100} {
		e.Stages = append(e.Stages, guard.StageBoxes{Percent: percent, Start: start, Counts: guard.Counts{Expected: 1000, Installed: min(1000, 100*percent)}})
	}
	return p, e
}

func TestDecide_HealthNumbers(t *testing.T) {
	const rest = "; with 0 undecided, 25 more bad boxes halt it."
	times := func(factor float64, which func(int) bool) func(int, map[string]float64) {
		return func(i int, now map[string]float64) {
			if which(i) {
				now["cycle"] *= factor
			}
		}
	}
	alone := func(_ *guard.Policy, e *guard.Evidence) {
		for i := range e.Workers {
			w := &e.Workers[i]
			factory, _ := strconv.Atoi(w.Factory) // whose change of product would be the box's own
			if now, says := w.Now["cycle"]; says {
				w.Now["cycle"] = now / (0.6 + 0.1*float64(factory))
			}
			w.Factory = fmt.Sprint("of box ", i)
		}
	}
	all, none := func(int) bool { return true }, func(int, map[string]float64) {}
	for name, c := range map[string]struct {
		say      func(int, map[string]float64)
		change   func(*guard.Policy, *guard.Evidence)
		action   guard.Action
		reason   guard.Reason
		sentence string
	}{
		"good": {say: none, action: guard.Promote, reason: guard.Clear},
		"a tenth slower": {say: times(1.1, all), action: guard.Halt, reason: guard.HealthWorse,
			sentence: "Halt: cycle is 10.9 % higher in 100 of 100 boxes that have the release, compared with 300 of 300 that it did not reach."},
		"faster": {say: times(0.9, all), action: guard.Promote, reason: guard.Clear},
		"lower is worse": {say: times(0.9, all), action: guard.Halt, reason: guard.HealthWorse,
			change: func(p *guard.Policy, _ *guard.Evidence) {
				p.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "lower"}}
			}},
		"a tenth slower, which is acceptable": {say: times(1.1, all), action: guard.Promote, reason: guard.Clear,
			change: func(p *guard.Policy, _ *guard.Evidence) {
				p.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "higher", By: 0.12}}
			}},
		"one in five crashes": {action: guard.Halt, reason: guard.HealthWorse, say: func(i int, now map[string]float64) {
			if i%5 == 0 {
				now["crashes"] = 1
			}
		}, sentence: "Halt: crashes is 0.2 in 100 of 100 boxes that have the release, and 0 in 300 of 300 that it did not reach, in a day on average."},
		"one in five crashes, and one without the release says any number": {action: guard.Halt, reason: guard.HealthWorse, say: func(i int, now map[string]float64) {
			if i%5 == 0 {
				now["crashes"] = 1
			}
		}, change: func(_ *guard.Policy, e *guard.Evidence) { e.Workers[len(e.Workers)-1].Now["crashes"] = 1e12 }},
		"one box is wild": {say: times(1e11, func(i int) bool { return i == 7 }), action: guard.Promote, reason: guard.Clear},
		"another unit":    {say: times(1000, all), action: guard.Halt, reason: guard.HealthWorse},
		"a smaller unit":  {say: times(0.001, all), action: guard.Hold, reason: guard.MeterChanged},
		"always the same": {say: func(_ int, now map[string]float64) { now["cycle"] = 5 }, action: guard.Hold, reason: guard.MeterChanged},
		"always 0":        {say: times(0, all), action: guard.Hold, reason: guard.MeterChanged},
		"half, by a fix":  {say: times(0.45, all), action: guard.Hold, reason: guard.MeterChanged},
		"half, as expected": {say: times(0.45, all), action: guard.Promote, reason: guard.Clear, change: func(p *guard.Policy, _ *guard.Evidence) {
			p.Health = map[string]guard.Number{"cycle": {Is: "gauge", Worse: "higher", By: 0.01, Expects: "better"}}
		}},
		"half, in eight of ten": {say: times(0.45, func(i int) bool { return i%5 > 0 }), action: guard.Promote, reason: guard.Clear},
		"half everywhere": {say: times(0.45, all), action: guard.Promote, reason: guard.Clear, change: func(_ *guard.Policy, e *guard.Evidence) {
			for _, w := range e.Workers {
				if !w.Reached {
					w.Now["cycle"] *= 0.45
				}
			}
		}},
		"two crashes a day everywhere, and none with the release": {say: none, action: guard.Promote, reason: guard.Clear, change: func(_ *guard.Policy, e *guard.Evidence) {
			for _, w := range e.Workers {
				if w.Before["crashes"] = 2; !w.Reached {
					w.Now["crashes"] = 2
				}
			}
		}},
		"a few much worse": {say: times(3, func(i int) bool { return i%4 == 0 }), action: guard.Halt, reason: guard.HealthWorse},
		"one organization": {say: times(1.3, func(i int) bool { return i/10%2 == 0 }), action: guard.Hold, reason: guard.OneOrganization},
		"renamed": {action: guard.Hold, reason: guard.Unreported, say: func(_ int, now map[string]float64) { delete(now, "cycle") },
			sentence: "Hold: 0 of 100 boxes that have the release say cycle, and 300 of 300 that it did not reach; to go on without this number, take it out of the policy" + rest},
		"the worst say nothing": {action: guard.Hold, reason: guard.Unreported, say: func(i int, now map[string]float64) {
			if i%4 == 0 {
				delete(now, "cycle")
			}
		}},
		"most say nothing anywhere": {say: none, action: guard.Hold, reason: guard.Unreported, change: func(_ *guard.Policy, e *guard.Evidence) {
			for i := range e.Workers {
				if i%5 < 3 {
					e.Workers[i].Now = nil
				}
			}
		}},
		"a tenth slower, each box alone in its factory": {say: times(1.1, all), action: guard.Halt, reason: guard.HealthWorse, change: alone,
			sentence: "Halt: cycle is 10.7 % higher in 100 of 100 boxes that have the release, compared with 300 of 300 that it did not reach."},
		"the worst say nothing, each alone in its factory": {action: guard.Hold, reason: guard.Unreported, change: alone, say: func(i int, now map[string]float64) {
			if i%4 == 0 {
				delete(now, "cycle")
			}
		}},
		"nobody asks": {say: times(1.1, all), action: guard.Promote, reason: guard.Clear, change: func(p *guard.Policy, _ *guard.Evidence) { p.Health = nil }},
		"nobody has looked": {say: none, action: guard.Hold, reason: guard.NotSurveyed, change: func(_ *guard.Policy, e *guard.Evidence) {
			e.Kinds, e.Workers, e.Surveys = nil, nil, []guard.Survey{{Percent: 10, Number: 1, At: e.Since.Add(time.Hour)}}
		}},
		"a look that halted stands": {say: none, action: guard.Halt, reason: guard.HealthWorse, change: func(_ *guard.Policy, e *guard.Evidence) {
			e.Numbers = []guard.Comparison{{Reading: guard.Reading{Name: "cycle", At: e.Since}, Percent: 1, Halts: true}}
		}},
		"a person has accepted it": {say: times(1.1, all), action: guard.Promote, reason: guard.Clear, change: func(_ *guard.Policy, e *guard.Evidence) {
			e.Resumed = e.Since.Add(time.Minute)
			e.Numbers = []guard.Comparison{{Reading: guard.Reading{Name: "cycle", At: e.Since}, Percent: 1, Halts: true}}
		}},
		"a person went on without the one organization, and it is worse for the others": {say: times(1.1, all), action: guard.Halt, reason: guard.HealthWorse,
			change: func(_ *guard.Policy, e *guard.Evidence) {
				e.Resumed = e.Since.Add(time.Minute)
				e.Numbers = []guard.Comparison{{Reading: guard.Reading{Name: "cycle", At: e.Since}, Percent: 1, Halts: true, Only: "o0"}}
				e.Workers = slices.DeleteFunc(e.Workers, func(w guard.Worker) bool { return w.Organization == "o0" })
			}},
		"a person went on with it": {say: times(1.1, all), action: guard.Promote, reason: guard.Clear, change: func(_ *guard.Policy, e *guard.Evidence) {
			e.Resumed = e.Since.Add(time.Minute)
			e.Numbers = []guard.Comparison{{Reading: guard.Reading{Name: "cycle", At: e.Since}, Percent: 1, Halts: true, Only: "o0"}}
		}},
		"a number that was taken out": {say: none, action: guard.Promote, reason: guard.Clear, change: func(_ *guard.Policy, e *guard.Evidence) {
			e.Numbers = []guard.Comparison{{Reading: guard.Reading{Name: "heat", At: e.Since}, Percent: 10, Halts: true, Unreported: true}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, e := working(workers(rand.New(rand.NewPCG(1, 1)), c.say))
			if c.change != nil {
				c.change(&p, &e)
			}
			v := guard.Decide(p, e, lookedAt)
			if v.Action != c.action || v.Reason != c.reason || c.sentence != "" && v.Sentence != c.sentence {
				t.Errorf("%s because of %v: %s", v.Action, v.Reasons, v.Sentence)
			}
			expect.Equal(t, v.Stops, c.reason == guard.OneOrganization, "stops telling")
		})
	}
}

// TestDecide_HealthNumbers_OrderAndUnitsDoNotMatter: only ranks within a factory count.
func TestDecide_HealthNumbers_OrderAndUnitsDoNotMatter(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		list := workers(random, func(_ int, now map[string]float64) { now["cycle"] *= 1 + 0.05*random.Float64() })
		p, e := working(list)
		want := guard.Decide(p, e, lookedAt)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, w := range list {
			w.Before["cycle"], w.Now["cycle"] = 1024*w.Before["cycle"], 1024*w.Now["cycle"]
		}
		p, e = working(list)
		if got := guard.Decide(p, e, lookedAt); got.Action != want.Action || !slices.Equal(got.Reasons, want.Reasons) {
			t.Errorf("seed %d: %s, then %s", seed, want.Sentence, got.Sentence)
		}
	}
}

// TestDecide_HealthNumbers_ChanceHaltsFew: the level of one look at stage 10 is an eighth of a percent for two numbers.
func TestDecide_HealthNumbers_ChanceHaltsFew(t *testing.T) {
	halted := 0
	for seed := range uint64(400) {
		p, e := working(workers(rand.New(rand.NewPCG(seed, 3)), func(int, map[string]float64) {}))
		if v := guard.Decide(p, e, lookedAt); v.Action != guard.Promote {
			halted++
		}
	}
	if halted > 8 { // with the levels of halts and holds, five are expected at most
		t.Errorf("%d of 400 good releases are held or halted", halted)
	}
}
