package guard_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/stats"
	"wavegate/shared/testing/expect"
)

// A lot is a fleet whose boxes are drawn: the release kills or fails shares of them, and others are silent anyway, by plants of 50.
type lot struct {
	boxes                int
	brick, fail, silence float64
}

// A drawn box is in a stage.
type drawn struct {
	stage               int // its index
	dead, failed, quiet bool
}

func (l lot) draw(r *rand.Rand) []drawn {
	const plant = 50
	off := make([]bool, l.boxes/plant+1)
	for i := range off {
		off[i] = r.Float64() < l.silence
	}
	list := make([]drawn, l.boxes)
	for i := range list {
		at, stage := 100*r.Float64(), 0
		for at >= float64(cohort.Stages[stage]) {
			stage++
		}
		list[i] = drawn{stage, r.Float64() < l.brick, r.Float64() < l.fail, off[r.IntN(len(off))]}
	}
	return list
}

// evidence is what is known of the boxes at a stage, some time after it began.
func evidence(boxes []drawn, stage int, looks []guard.Look, after time.Duration, all bool) guard.Evidence {
	const sample = 1000
	e := guard.Evidence{Active: true, Stage: cohort.Stages[stage], CountedAt: cohort.Stages[stage], Since: now.Add(-after), AsOf: now, Looks: looks, New: !all}
	e.Stages = make([]guard.StageBoxes, len(cohort.Stages))
	var control guard.Group
	total := guard.Kind{Name: guard.OfAll}
	taken := guard.Taken{Causes: map[guard.Cause]int{}}
	for i := range e.Stages {
		if e.Stages[i].Percent = cohort.Stages[i]; i <= stage {
			e.Stages[i].Start = now.Add(-after - time.Duration(stage-i)*25*time.Hour)
		}
	}
	for _, b := range boxes {
		s := &e.Stages[b.stage]
		s.Expected++
		if b.stage > stage {
			one := guard.Group{Boxes: 1, Silent: count(b.quiet), Away: 0}
			total.Control = total.Control.Plus(one)
			if control.Boxes < sample {
				control = control.Plus(one)
			}
			continue
		}
		one := guard.Group{Boxes: 1, Silent: count(b.quiet || b.dead), Away: count(b.dead && all)}
		total.Treated = total.Treated.Plus(one)
		if s.Treated.Boxes < sample {
			s.Treated = s.Treated.Plus(one)
		}
		if b.failed && !b.dead {
			s.Failed, s.Bad = s.Failed+1, s.Bad+1
		} else {
			s.Installed++
		}
		if b.stage == stage && taken.Boxes < sample {
			taken.Boxes++
			taken.Good += count(!b.failed && !b.dead)
		}
	}
	for i := range e.Stages[:stage+1] {
		e.Stages[i].Control = control
	}
	if all {
		taken.Needed = taken.Boxes * 8 / 10
		e.Taken = &taken
		if e.Kinds = []guard.Kind{}; os.Getenv("BEFORE") == "" {
			e.Kinds = append(e.Kinds, total)
		}
	}
	return e
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// plays plays a rollout by the rules, and returns at which stage it stopped, and why; 0: nowhere.
func (l lot) plays(r *rand.Rand) (stage int, v guard.Verdict) {
	boxes, p := l.draw(r), acting()
	var looks []guard.Look
	for i, percent := range cohort.Stages {
		v = guard.Decide(p, evidence(boxes, i, looks, 31*time.Minute, false), now)
		if v.Action == guard.Halt {
			return percent, v
		}
		looks = v.Looks
		v = guard.Decide(p, evidence(boxes, i, looks, 25*time.Hour, true), now)
		if v.Action == guard.Halt || v.Action == guard.Hold {
			return percent, v
		}
	}
	return 0, v
}

// A power is how many of some fleets stopped at 10 or before, at 50 or before, and at all, and how many of these were halted.
type power struct{ draws, at10, at50, at100, halted int }

func (l lot) power(draws int) (p power) {
	r := rand.New(rand.NewPCG(72, uint64(l.boxes)))
	for range draws {
		stage, v := l.plays(r)
		p.draws++
		p.at10 += count(stage == 1 || stage == 10)
		p.at50 += count(stage > 0 && stage <= 50)
		p.at100 += count(stage > 0)
		p.halted += count(v.Action == guard.Halt)
	}
	return p
}

func percent(n, of int) string {
	return fmt.Sprintf("%.1f (%.1f)", 100*float64(n)/float64(of), 100*stats.Upper(n, of, 0.05))
}

// TestPower_PrintsTheCurves: how often a release that kills or fails some boxes is stopped, with the one-sided 95 percent bound of
// the opposite in brackets. With BEFORE, a survey does not look at all boxes together.
func TestPower_PrintsTheCurves(t *testing.T) {
	draws := expect.Long(1, 3000)
	for _, boxes := range []int{300, 2000, 12000} {
		for _, share := range []float64{0.001, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05} {
			for does, l := range map[string]lot{"brick": {boxes: boxes, brick: share}, "fail": {boxes: boxes, fail: share}} {
				n := draws
				if boxes == 12000 {
					n = max(1, draws/5)
				}
				p := l.power(n)
				t.Logf("| %s %.1f %% | %d | %s | %s | %s | %s |", does, 100*share, boxes, percent(p.at10, n), percent(p.at50, n), percent(p.at100, n), percent(p.halted, n))
			}
		}
	}
}

// TestPower_AReleaseThatKillsTwoPercent_IsStoppedAtTen.
func TestPower_AReleaseThatKillsTwoPercent_IsStoppedAtTen(t *testing.T) {
	for boxes, goal := range map[int]float64{2000: 0.65, 12000: 0.99} {
		n := expect.Long(100, 1000)
		p := lot{boxes: boxes, brick: 0.02}.power(n)
		expect.That(t, stats.Upper(p.at10, n, 0.05) >= goal, "of %d boxes, %d of %d were stopped", boxes, p.at10, n)
	}
}

// TestPower_AGoodRelease_IsHardlyEverHeld, also at night: what is silent anyway is in both groups.
func TestPower_AGoodRelease_IsHardlyEverHeld(t *testing.T) {
	for _, l := range []lot{{boxes: 2000}, {boxes: 2000, silence: 0.3}, {boxes: 2000, silence: 0.02}, {boxes: 2000, fail: 0.005}, {boxes: 12000, silence: 0.1}} {
		n := expect.Long(30, 2000)
		p := l.power(n)
		t.Logf("%+v: %d of %d stopped (at most %.2f %%), %d halted (%.2f %%)", l, p.at100, n, 100*stats.Upper(p.at100, n, 0.05), p.halted, 100*stats.Upper(p.halted, n, 0.05))
		expect.That(t, stats.Lower(p.at100, n, 0.05) <= 0.05 && stats.Lower(p.halted, n, 0.05) <= 0.01, "%+v: %+v", l, p)
	}
}
