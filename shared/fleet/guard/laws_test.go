package guard_test

import (
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/guard"
)

// The figures that the design of the guard gives for its defaults.
func TestWald_DecidesByTheFiguresOfItsDesign(t *testing.T) {
	test := guard.NewWald(0.01, 0.05)
	if n := test.Needs(); n != 73 {
		t.Errorf("%d good boxes clear, want 73", n)
	}
	for n, want := range map[int]int{20: 4, 103: 6, 1000: 28, 10000: 253} {
		bad := 0
		for !test.Halts(bad, n) {
			bad++
		}
		if bad != want {
			t.Errorf("%d of %d bad boxes halt, want %d", bad, n, want)
		}
	}
}

func TestLevel_OfAllLooksComesToAThirdOfAlpha(t *testing.T) {
	sum := 0.0
	for look := range 100_000 {
		sum += guard.Level(look + 1)
	}
	if sum > guard.Alpha/3 || sum < 0.999*guard.Alpha/3 {
		t.Errorf("the levels of a stage sum up to %g, want a third of %g", sum, guard.Alpha)
	}
}

// A drawing is a policy and evidence of any kind that a census can give.
type drawing struct {
	policy   guard.Policy
	evidence guard.Evidence
}

func draw(t *rapid.T) drawing {
	n := func(most int, label string) int { return rapid.IntRange(0, most).Draw(t, label) }
	p := guard.Default()
	p.Mode = rapid.SampledFrom([]guard.Mode{guard.Advise, guard.Act}).Draw(t, "mode")
	p.Guard.SmallFleet = rapid.SampledFrom([]guard.SmallFleet{guard.AllDecided, guard.People}).Draw(t, "small fleet")
	p.Promote.Auto = n(9, "auto") > 0
	if n(3, "windows") == 0 {
		p.Promote.Windows = window("22:00", "04:00", "Europe/Berlin")
	}
	if n(3, "approvals") == 0 {
		p.Approvals.Before = []int{10, 50, 100}
	}
	e := guard.Evidence{
		Active: n(20, "active") > 0, Stage: rapid.SampledFrom([]int{1, 10, 50, 100}).Draw(t, "stage"), Interval: time.Minute,
		Since: now.Add(-time.Duration(n(48, "hours at the stage")) * time.Hour), AsOf: now.Add(-time.Duration(n(130, "age")) * time.Second),
	}
	e.CountedAt = e.Stage
	if n(20, "another stage was counted") == 0 {
		e.CountedAt = 1
	}
	size := rapid.SampledFrom([]int{0, 5, 60, 500, 5000}).Draw(t, "size")
	for _, percent := range []int{1, 10, 50, 100} {
		b := guard.Boxes{Percent: percent}
		if percent <= e.Stage {
			b.NotYetPolled, b.Offered, b.Working, b.Deferred = n(size/20, "not yet polled"), n(size/5, "offered"), n(size/20, "working"), n(size/20, "deferred")
			b.Installed, b.Failed, b.Reverted = n(size, "installed"), n(size/20, "failed"), n(size/50, "reverted")
			b.Blaming, b.Overdue = n(b.Failed, "blaming"), n(min(b.Offered+b.Working, size/50), "overdue")
		} else {
			b.NotYetPolled = size
		}
		b.Expected = b.NotYetPolled + b.Offered + b.Working + b.Deferred + b.Installed + b.Failed + b.Reverted
		e.Stages = append(e.Stages, b)
	}
	group := func(of int, label string) guard.Group {
		g := guard.Group{Boxes: n(of, label)}
		g.Silent = n(g.Boxes/rapid.SampledFrom([]int{1, 3, 20, 1000}).Draw(t, "part of "+label), "silent of "+label)
		return g
	}
	e.Silence = guard.Silence{Treated: group(1000, "treated"), Control: group(1000, "control"), Kept: e.Stage == 100}
	e.Silence.Present.Boxes = n(e.Silence.Treated.Boxes, "treated of the present stage")
	return drawing{p, e}
}

func (d drawing) decide() guard.Verdict { return guard.Decide(d.policy, d.evidence, now) }

// changed is the drawing with other evidence.
func (d drawing) changed(change func(*guard.Evidence)) drawing {
	d.evidence.Stages = slices.Clone(d.evidence.Stages)
	change(&d.evidence)
	return d
}

// moreBad makes more boxes bad: those that are offered or installed, at any stage, and then new ones.
func (d drawing) moreBad(n int) drawing {
	return d.changed(func(e *guard.Evidence) {
		for i := range e.Stages {
			for _, from := range []*int{&e.Stages[i].Deferred, &e.Stages[i].Offered, &e.Stages[i].Working, &e.Stages[i].Installed, &e.Stages[i].Failed} {
				least := 0
				if from == &e.Stages[i].Failed {
					least = e.Stages[i].Blaming
				}
				moved := min(n, *from-least)
				*from -= moved
				e.Stages[i].Reverted += moved
				n -= moved
			}
			e.Stages[i].Overdue = min(e.Stages[i].Overdue, e.Stages[i].Offered+e.Stages[i].Working)
		}
		at(e).Reverted += n
		at(e).Expected += n
	})
}

func halts(v guard.Verdict, r guard.Reason) bool {
	return v.Action == guard.Halt && slices.Contains(v.Reasons, r)
}

func TestDecide_TheNumbersOfTheSentenceAreThoseOfTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.evidence.Active = true
		v := d.decide()
		if halts(v, guard.TooManyBad) {
			better := func(n int) bool { return guard.NewWald(0.01, 0.05).Halts(v.Halting.Bad-n, v.Halting.Boxes) }
			if n := v.Distance.FewerBad; better(n) || !better(n-1) {
				t.Fatalf("%d fewer bad boxes do not turn it: %s", n, v.Sentence)
			}
			return
		}
		if n := v.Distance.MoreBad; !halts(d.moreBad(n).decide(), guard.TooManyBad) || halts(d.moreBad(n-1).decide(), guard.TooManyBad) {
			t.Fatalf("%d more bad boxes do not turn it: %s", n, v.Sentence)
		}
		silent := func(n int) guard.Verdict {
			return d.changed(func(e *guard.Evidence) { e.Silence.Treated.Silent += n }).decide()
		}
		switch n := v.Distance.MoreSilent; {
		case n == 0:
			if !halts(v, guard.TooManySilent) {
				t.Fatalf("no more silent boxes are needed: %s", v.Sentence)
			}
		case n > 0:
			if !halts(silent(n), guard.TooManySilent) || halts(silent(n-1), guard.TooManySilent) {
				t.Fatalf("%d more silent boxes do not turn it: %s", n, v.Sentence)
			}
		default:
			if halts(silent(v.Treated.Boxes-v.Treated.Silent), guard.TooManySilent) {
				t.Fatalf("all silent halts it: %s", v.Sentence)
			}
		}
		if slices.Contains(v.Reasons, guard.Silent) && v.Distance.FewerSilent > 0 {
			n := v.Distance.FewerSilent
			if slices.Contains(silent(-n).Reasons, guard.Silent) != (d.evidence.Silence.Present.Boxes < at(&d.evidence).Installed && at(&d.evidence).Expected < 73) ||
				!slices.Contains(silent(1-n).Reasons, guard.Silent) {
				t.Fatalf("%d fewer silent boxes do not turn it: %s", n, v.Sentence)
			}
		}
		if slices.Contains(v.Reasons, guard.Undecided) {
			good := func(n int) bool {
				return slices.Contains(d.changed(func(e *guard.Evidence) { at(e).Installed += n; at(e).Expected += n }).decide().Reasons, guard.Undecided)
			}
			if n := v.Distance.MoreGood; good(n) || !good(n-1) {
				t.Fatalf("%d more good boxes do not turn it: %s", n, v.Sentence)
			}
		}
		if v.Reason == guard.Clear && v.Clearing.Boxes >= 73 {
			overdue := func(n int) guard.Action {
				return d.changed(func(e *guard.Evidence) { at(e).Offered += n; at(e).Overdue += n; at(e).Expected += n }).decide().Action
			}
			if n := v.Distance.Spare; overdue(n) != v.Action || overdue(n+1) != guard.Hold {
				t.Fatalf("%d more bad boxes are not what it bears: %s", n, v.Sentence)
			}
		}
	})
}

func TestDecide_MoreBadBoxesNeverMakeItBetter(t *testing.T) {
	rank := map[guard.Action]int{guard.Halt: 0, guard.Hold: 1, guard.Promote: 2, guard.Complete: 2}
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		worse := d.moreBad(rapid.IntRange(1, 300).Draw(t, "more bad"))
		if before, after := d.decide(), worse.decide(); rank[after.Action] > rank[before.Action] {
			t.Fatalf("%s\nwith more bad boxes: %s", before.Sentence, after.Sentence)
		}
	})
}

func TestDecide_MoreSilentBoxesNeverMakeItBetter(t *testing.T) {
	rank := map[guard.Action]int{guard.Halt: 0, guard.Hold: 1, guard.Promote: 2, guard.Complete: 2}
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		worse := d.changed(func(e *guard.Evidence) {
			e.Silence.Treated.Silent = rapid.IntRange(e.Silence.Treated.Silent, e.Silence.Treated.Boxes).Draw(t, "silent")
		})
		if before, after := d.decide(), worse.decide(); rank[after.Action] > rank[before.Action] {
			t.Fatalf("%s\nwith more silent boxes: %s", before.Sentence, after.Sentence)
		}
	})
}

func TestDecide_NothingThatPeopleSetHoldsUpAHalt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.evidence.Active = true
		if rapid.Bool().Draw(t, "bad") {
			d = d.moreBad(rapid.IntRange(1, 300).Draw(t, "more bad"))
		}
		free := d.decide()
		longest := guard.Lasting(guard.Longest)
		d.policy.Promote = guard.Promotion{Soak: guard.Soak{At1: longest, At10: longest, At50: longest, At100: longest}, Windows: window("00:00", "00:01", "UTC")}
		d.policy.Approvals.Before = []int{10, 50, 100}
		d.evidence.Freeze = &guard.Freeze{Until: now.Add(time.Hour)}
		bound := d.decide()
		if (free.Action == guard.Halt) != (bound.Action == guard.Halt) || free.Action == guard.Halt && !reflect.DeepEqual(free.Reasons, bound.Reasons) {
			t.Fatalf("%s\nheld up: %s", free.Sentence, bound.Sentence)
		}
		if bound.Action == guard.Promote || bound.Action == guard.Complete {
			t.Fatalf("goes on in spite of all: %s", bound.Sentence)
		}
	})
}

func TestDecide_OldOrMissingCountsNeverLetItGoOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t).changed(func(e *guard.Evidence) {
			e.AsOf = rapid.SampledFrom([]time.Time{{}, now.Add(-121 * time.Second), now.Add(121 * time.Second), now.Add(-24 * time.Hour)}).Draw(t, "as of")
		})
		if v := d.decide(); v.Action == guard.Promote || v.Action == guard.Complete || halts(v, guard.TooManySilent) {
			t.Fatal(v.Sentence)
		}
	})
}

func TestDecide_NoOrganizationAloneHalts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.evidence.Active = true
		d.evidence.Silence = guard.Silence{} // which leans by itself
		d = d.moreBad(rapid.IntRange(0, 300).Draw(t, "more bad"))
		total := d.decide()
		told, bad := total.Halting.Boxes, total.Halting.Bad
		// The bad boxes are dealt to two organizations.
		first := guard.Organization{ID: "first", Bad: rapid.IntRange(0, bad).Draw(t, "bad of the first")}
		first.Told = rapid.IntRange(first.Bad, told-(bad-first.Bad)).Draw(t, "told of the first")
		second := guard.Organization{ID: "second", Told: told - first.Told, Bad: bad - first.Bad}
		first.Decided, second.Decided = first.Told, second.Told
		d.evidence.Organizations = []guard.Organization{first, second}
		v, test := d.decide(), guard.NewWald(0.01, 0.05)
		if v.Action == guard.Halt {
			for _, o := range d.evidence.Organizations {
				if o.Told < told && !test.Halts(bad-o.Bad, told-o.Told) && test.Clears(bad-o.Bad, told-o.Told) {
					t.Fatalf("without %s there is no halt, and the others do well: %s", o.ID, v.Sentence)
				}
			}
		}
		if (v.Action == guard.Halt || v.Reason == guard.OneOrganization || slices.Contains(v.Reasons, guard.OneOrganization)) != (total.Action == guard.Halt) {
			t.Fatalf("all boxes: %s\nby organization: %s", total.Sentence, v.Sentence)
		}
		if v.Action == guard.Promote && total.Action == guard.Halt {
			t.Fatalf("goes on: %s", v.Sentence)
		}
	})
}

func TestDecide_ActsOnlyWhereThePolicySaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		if v := d.decide(); v.Acts != (d.policy.Mode == guard.Act && v.Action != guard.Hold) || v.Sentence == "" || v.Reason != v.Reasons[0] {
			t.Fatalf("acts: %v, %s", v.Acts, v.Sentence)
		}
	})
}

// The next stage is named by the census, not by the rule.
func TestDecide_PromotesToTheNextStage(t *testing.T) {
	for stage, next := range map[int]int{1: 10, 10: 50, 50: 100} {
		if v := guard.Decide(acting(), healthy(stage), now); v.Action != guard.Promote || v.Next != next {
			t.Errorf("at %s: %s to %d", strconv.Itoa(stage), v.Action, v.Next)
		}
	}
}
