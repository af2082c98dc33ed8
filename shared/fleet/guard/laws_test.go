package guard_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/expect"
)

// TestWald_DecidesByTheFiguresOfItsDesign uses the figures in the design of the guard for its defaults.
func TestWald_DecidesByTheFiguresOfItsDesign(t *testing.T) {
	test := guard.NewWald(0.01, 0.05)
	if n := test.Needs(); n != 73 {
		t.Errorf("%d good boxes clear, want 73", n)
	}
	for n, want := range map[int]int{20: 5, 100: 7, 1000: 30, 10000: 255} {
		bad := 0
		for !test.Halts(bad, n) {
			bad++
		}
		expect.That(t, bad == want, "%d of %d bad boxes halt, want %d", bad, n, want)
	}
}

func TestLevel_OfAllLooksComesToASixthOfAlpha(t *testing.T) {
	sum := 0.0
	for look := range 100_000 {
		sum += guard.Level(look + 1)
	}
	if sum > guard.Alpha/6 || sum < 0.999*guard.Alpha/6 {
		t.Errorf("the levels of a stage sum up to %g, want a sixth of %g", sum, guard.Alpha)
	}
}

func TestBounds_ALookIsDueOnceEachSilentAfter(t *testing.T) {
	b, start := guard.Default().Guard, now
	look := guard.Look{}
	var at []time.Duration
	for minute := range 120 {
		if age := time.Duration(minute) * time.Minute; b.Due(1, start, []guard.Look{look}, start.Add(age)) {
			look = guard.Look{Percent: 1, Number: look.Number + 1, At: start.Add(age)}
			at = append(at, age)
		}
	}
	want := []time.Duration{30 * time.Minute, 60 * time.Minute, 90 * time.Minute}
	expect.That(t, slices.Equal(at, want), "looks at %v, want %v", at, want)
	expect.That(t, !b.Due(1, time.Time{}, nil, now), "a stage that was never reached is looked at")
}

// If the only box of a stage dies, the release must hold: otherwise most of a fleet of twenty could die.
func TestBounds_Needed_AShare_OrAllButOne_ButOneAtLeast(t *testing.T) {
	b := guard.Default().Guard
	for boxes, want := range map[int]int{0: 0, 1: 1, 2: 1, 4: 3, 5: 4, 10: 8, 1000: 800} {
		got := b.Needed(guard.Taken{Boxes: boxes, All: true})
		expect.That(t, got == want, "%d of %d boxes are needed, want %d", got, boxes, want)
	}
	b.Taken = 1
	got := b.Needed(guard.Taken{Boxes: 1000})
	expect.That(t, got == 1000, "%d of a sample are needed, want all", got)
}

// A drawing is any policy and any evidence that a census can give.
type drawing struct {
	policy   guard.Policy
	evidence guard.Evidence
}

func draw(t *rapid.T) drawing {
	n := func(most int, label string) int { return rapid.IntRange(0, most).Draw(t, label) }
	p := guard.Default()
	p.Promote.Soak.At10 = p.Promote.Soak.At1
	p.Mode = rapid.SampledFrom([]guard.Mode{guard.Advise, guard.Act}).Draw(t, "mode")
	p.Guard.SmallFleet = rapid.SampledFrom([]guard.SmallFleet{guard.AllDecided, guard.People, guard.PeopleIfFew}).Draw(t, "small fleet")
	p.Promote.Auto = n(9, "auto") > 0
	if n(3, "windows") == 0 {
		p.Promote.Windows = calendar.Windows{{Days: calendar.Days, From: "22:00", To: "04:00", TimeZone: "Europe/Berlin"}}
	}
	if n(3, "approvals") == 0 {
		p.Approvals.Before = []int{10, 50, 100}
	}
	e := guard.Evidence{
		Active: n(20, "active") > 0, Stage: rapid.SampledFrom(cohort.Stages).Draw(t, "stage"), New: n(3, "new looks") > 0,
		Since: now.Add(-time.Duration(n(48, "hours at the stage")) * time.Hour), AsOf: now.Add(-time.Duration(n(130, "age")) * time.Second),
	}
	e.CountedAt = e.Stage
	if n(20, "another stage was counted") == 0 {
		e.CountedAt = 1
	}
	size := rapid.SampledFrom([]int{0, 5, 60, 500, 5000}).Draw(t, "size")
	for _, percent := range cohort.Stages {
		b := guard.StageBoxes{Percent: percent}
		if percent <= e.Stage {
			b.Start = now.Add(-time.Duration(n(72, "hours since the start")) * time.Hour)
			b.NotYetPolled, b.Offered, b.Working, b.Deferred = n(size/20, "not yet polled"), n(size/5, "offered"), n(size/20, "working"), n(size/20, "deferred")
			b.Installed, b.Failed, b.Reverted = n(size, "installed"), n(size/20, "failed"), n(size/50, "reverted")
			b.Bad = b.Reverted + n(b.Failed, "bad")
			b.Treated, b.Control = group(t, "treated"), group(t, "control")
		} else {
			b.NotYetPolled = size
		}
		b.Expected = b.NotYetPolled + b.Offered + b.Working + b.Deferred + b.Installed + b.Failed + b.Reverted
		e.Stages = append(e.Stages, b)
	}
	if n(5, "taken is known") > 0 {
		taken := guard.Taken{Boxes: min(at(&e).Expected, 1000), All: at(&e).Expected <= 1000}
		taken.Good = n(taken.Boxes, "good")
		taken.Young, taken.Needed = n(taken.Boxes-taken.Good, "young"), p.Guard.Needed(taken)
		e.Taken = &taken
	}
	return drawing{p, e}
}

func group(t *rapid.T, label string) guard.Group {
	g := guard.Group{Boxes: rapid.IntRange(0, 1000).Draw(t, label)}
	part := rapid.SampledFrom([]int{1, 3, 20, 1000}).Draw(t, "part of "+label)
	g.Silent = rapid.IntRange(0, g.Boxes/part).Draw(t, "silent of "+label)
	g.Away = rapid.IntRange(0, g.Silent).Draw(t, "away of "+label)
	return g
}

func (d drawing) decide() guard.Verdict { return guard.Decide(d.policy, d.evidence, now) }

// changed returns the drawing with changed evidence.
func (d drawing) changed(change func(*guard.Evidence)) drawing {
	d.evidence.Stages = slices.Clone(d.evidence.Stages)
	change(&d.evidence)
	return d
}

// moreBad makes up to n told boxes of the present stage bad.
func (d drawing) moreBad(n int) (drawing, int) {
	made := 0
	return d.changed(func(e *guard.Evidence) {
		b := at(e)
		for _, from := range []*int{&b.Offered, &b.Working, &b.Deferred, &b.Installed} {
			moved := min(n-made, *from)
			*from -= moved
			made += moved
		}
		b.Reverted, b.Bad = b.Reverted+made, b.Bad+made
	}), made
}

func halts(v guard.Verdict, r guard.Reason) bool {
	return v.Action == guard.Halt && slices.Contains(v.Reasons, r)
}

func TestDecide_FewerBadBoxesThanTheSentenceNamesDoNotHalt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		v := d.decide()
		if halts(v, guard.TooManyBad) || !d.evidence.Active {
			return
		}
		if more, _ := d.moreBad(v.Distance.MoreBad - 1); halts(more.decide(), guard.TooManyBad) {
			t.Fatalf("%d more bad boxes halt it: %s", v.Distance.MoreBad-1, v.Sentence)
		}
		if v.Halting.Percent != d.evidence.Stage {
			return
		}
		if more, made := d.moreBad(v.Distance.MoreBad + 300); made >= v.Distance.MoreBad+300 && !halts(more.decide(), guard.TooManyBad) {
			t.Fatalf("%d more bad boxes do not halt it: %s", made, v.Sentence)
		}
	})
}

var rank = map[guard.Action]int{guard.Halt: 0, guard.Hold: 1, guard.Promote: 2, guard.Complete: 2}

func TestDecide_MoreBadBoxesNeverMakeItBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		worse, _ := d.moreBad(rapid.IntRange(1, 300).Draw(t, "more bad"))
		if before, after := d.decide(), worse.decide(); rank[after.Action] > rank[before.Action] {
			t.Fatalf("%s\nwith more bad boxes: %s", before.Sentence, after.Sentence)
		}
	})
}

func TestDecide_MoreSilentBoxesNeverMakeItBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		worse := d.changed(func(e *guard.Evidence) {
			for i := range e.Stages {
				g := &e.Stages[i].Treated
				g.Silent = rapid.IntRange(g.Silent, g.Boxes).Draw(t, "silent")
				g.Away = rapid.IntRange(g.Away, g.Silent).Draw(t, "away")
			}
		})
		if before, after := d.decide(), worse.decide(); rank[after.Action] > rank[before.Action] {
			t.Fatalf("%s\nwith more silent boxes: %s", before.Sentence, after.Sentence)
		}
	})
}

func TestDecide_FewerBoxesThatTookItNeverMakeItBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		if d.evidence.Taken == nil {
			return
		}
		worse := d.changed(func(e *guard.Evidence) {
			taken := *e.Taken
			taken.Good = rapid.IntRange(0, taken.Good).Draw(t, "good")
			e.Taken = &taken
		})
		if before, after := d.decide(), worse.decide(); rank[after.Action] > rank[before.Action] || after.Action == guard.Halt && before.Action != guard.Halt {
			t.Fatalf("%s\nwith fewer good boxes: %s", before.Sentence, after.Sentence)
		}
	})
}

func TestDecide_NothingThatPeopleSetHoldsUpAHalt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.evidence.Active = true
		if rapid.Bool().Draw(t, "bad") {
			d, _ = d.moreBad(rapid.IntRange(1, 300).Draw(t, "more bad"))
		}
		free := d.decide()
		d.policy.Promote.Auto, d.policy.Promote.Windows = false, calendar.Windows{{Days: calendar.Days, From: "00:00", To: "00:01", TimeZone: "UTC"}}
		d.policy.Approvals.Before = []int{10, 50, 100}
		d.evidence.Freeze = &guard.Freeze{Until: now.Add(time.Hour)}
		bound := d.decide()
		if (free.Action == guard.Halt) != (bound.Action == guard.Halt) || free.Action == guard.Halt && !reflect.DeepEqual(free.Reasons, bound.Reasons) {
			t.Fatalf("%s\nheld up: %s", free.Sentence, bound.Sentence)
		}
		expect.Must(t, bound.Action != guard.Promote && bound.Action != guard.Complete,
			"goes on despite everything: %s", bound.Sentence)
	})
}

func TestDecide_OldOrMissingCountsNeverLetItGoOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t).changed(func(e *guard.Evidence) {
			e.AsOf = rapid.SampledFrom([]time.Time{{}, now.Add(-121 * time.Second), now.Add(121 * time.Second), now.Add(-24 * time.Hour)}).Draw(t, "as of")
		})
		if v := d.decide(); v.Action == guard.Promote || v.Action == guard.Complete || halts(v, guard.TooManySilent) || len(v.Looks) > 0 {
			t.Fatal(v.Sentence)
		}
	})
}

// TestDecide_BetweenTwoLooksSilenceChangesNothing: looking more often must not add chances of error.
func TestDecide_BetweenTwoLooksSilenceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		v := d.decide()
		again := d.changed(func(e *guard.Evidence) {
			e.Looks, e.AsOf = v.Looks, e.AsOf.Add(time.Minute)
			for i := range e.Stages {
				e.Stages[i].Treated = group(t, "treated again")
			}
			e.New = false
		}).decide()
		if !reflect.DeepEqual(again.Looks, v.Looks) && d.evidence.New {
			t.Fatalf("%+v\nbecame %+v", v.Looks, again.Looks)
		}
		if halts(again, guard.TooManySilent) && !slices.ContainsFunc(v.Looks, func(l guard.Look) bool { return l.Halts }) {
			t.Fatalf("halts between two looks: %s", again.Sentence)
		}
	})
}

// TestDecide_OneOrganizationHoldsUpAHalt_OnlyIfTheOthersContradictIt: otherwise every halt stands.
func TestDecide_OneOrganizationHoldsUpAHalt_OnlyIfTheOthersContradictIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.evidence.Active = true
		d, _ = d.moreBad(rapid.IntRange(0, 300).Draw(t, "more bad"))
		total := d.decide()
		first, second := guard.Organization{ID: "first"}, guard.Organization{ID: "second"}
		others, othersBad := 0, 0
		for _, b := range d.evidence.Stages {
			told := b.Offered + b.Working + b.Deferred + b.Installed + b.Failed + b.Reverted
			p := guard.Share{Bad: rapid.IntRange(0, b.Bad).Draw(t, "bad of the first")}
			p.Told = rapid.IntRange(p.Bad, told-(b.Bad-p.Bad)).Draw(t, "told of the first")
			p.Decided = p.Told
			q := guard.Share{Told: told - p.Told, Decided: told - p.Told, Bad: b.Bad - p.Bad, Treated: b.Treated, Control: b.Control}
			first.Parts, second.Parts = append(first.Parts, p), append(second.Parts, q)
			others, othersBad = others+q.Decided, othersBad+q.Bad
		}
		d.evidence.Organizations = []guard.Organization{first, second}
		v := d.decide()
		held := slices.Contains(v.Reasons, guard.OneOrganization)
		expect.Must(t, (v.Action == guard.Halt || held) == (total.Action == guard.Halt),
			"all boxes: %s\nby organization: %s", total.Sentence, v.Sentence)
		if held && v.Organization == "first" && halts(total, guard.TooManyBad) && others < 20 {
			t.Fatalf("held by %d boxes of others, %d of them bad: %s", others, othersBad, v.Sentence)
		}
		doubted := v.Action == guard.Hold && slices.ContainsFunc(v.Looks, func(l guard.Look) bool { return l.Doubts })
		if v.Stops != ((held || doubted) && d.policy.Mode == guard.Act) {
			t.Fatalf("stops telling: %t: %s", v.Stops, v.Sentence)
		}
	})
}

func TestDecide_ActsOnlyIfThePolicySaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		if v := d.decide(); v.Acts != (d.policy.Mode == guard.Act && v.Action != guard.Hold) || v.Sentence == "" || v.Reason != v.Reasons[0] {
			t.Fatalf("acts: %v, %s", v.Acts, v.Sentence)
		}
	})
}

// The census names the next stage, not the rule.
func TestDecide_PromotesToTheNextStage(t *testing.T) {
	for stage, next := range map[int]int{1: 10, 10: 50, 50: 100} {
		if v := guard.Decide(acting(), healthy(stage), now); v.Action != guard.Promote || v.Next != next {
			t.Errorf("at %d: %s to %d: %s", stage, v.Action, v.Next, v.Sentence)
		}
	}
}
