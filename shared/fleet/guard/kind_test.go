package guard_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/testing/expect"
)

func kind(s guard.Share) guard.Kind { return guard.Kind{Share: s} }

// revisions are a thousand told boxes in fifty factories, of which some have hardware revision C, each in a factory of its
// own.
func revisions(c guard.Kind) []guard.Kind {
	c.Name, c.Value = "hardwareRevision", "C"
	c.Factories, c.BadFactories, c.Decided = c.Told, c.Bad, c.Told
	return []guard.Kind{c, {Name: "hardwareRevision", Value: "B", Factories: 50, BadFactories: 3,
		Share: guard.Share{Told: 1000 - c.Told, Bad: 3, Treated: guard.Group{Boxes: 1000 - c.Told, Silent: 4}, Control: guard.Group{Boxes: 9000, Silent: 40}}}}
}

// shared is a kind with boxes of two organizations, each in a factory of its own.
func shared(acme, other guard.Kind) guard.Kind {
	sum := guard.Kind{By: map[string]guard.Kind{}}
	for id, p := range map[string]guard.Kind{"acme": acme, "other": other} {
		p.Factories, p.BadFactories, p.Decided = p.Told, p.Bad, p.Told
		sum.By[id] = p
		sum.Share = sum.Plus(p.Share)
	}
	return sum
}

// TestDecide_OneKindOfSeveralOrganizations: a halt rests on none of them alone.
func TestDecide_OneKindOfSeveralOrganizations(t *testing.T) {
	bad := func(bad, of int) guard.Kind { return kind(guard.Share{Told: of, Bad: bad}) }
	silent := func(silent, of, without int) guard.Kind {
		return kind(guard.Share{Told: of, Treated: guard.Group{Boxes: of, Silent: silent}, Control: guard.Group{Boxes: without}})
	}
	for name, c := range map[string]struct {
		acme, other guard.Kind
		want        guard.Reason
	}{
		"only one's are bad":                        {bad(6, 6), bad(0, 5), guard.KindDoubtful},
		"only one's are bad, and another's is off":  {bad(6, 6), silent(1, 1, 10), guard.KindDoubtful},
		"one's are bad, and others' one of one":     {bad(5, 5), bad(1, 1), guard.KindBad},
		"one's are bad, and others' one of thirty":  {bad(6, 6), bad(1, 30), guard.KindDoubtful},
		"one's are bad, and others' four of thirty": {bad(6, 6), bad(4, 30), guard.KindBad},
		"one's are bad, and others' silent":         {bad(6, 6), silent(4, 4, 60), guard.KindBad},
		"only one's are silent":                     {silent(6, 6, 60), silent(0, 5, 60), guard.KindDoubtful},
		"one's are silent, and others' one":         {silent(5, 5, 60), silent(1, 1, 60), guard.KindBad},
		"one's are silent, and others' one of 40":   {silent(6, 6, 60), silent(1, 40, 60), guard.KindDoubtful},
	} {
		t.Run(name, func(t *testing.T) {
			e := healthy(10)
			e.Kinds = revisions(shared(c.acme, c.other))
			e.Kinds[1].By = map[string]guard.Kind{"other": e.Kinds[1]}
			v := guard.Decide(acting(), e, now)
			expect.Equal(t, v.Reason, c.want, "%s", v.Sentence)
		})
	}
}

func TestDecide_OneKind(t *testing.T) {
	const rest = "; with 0 undecided, 23 more bad boxes or 13 more silent halt it."
	for name, c := range map[string]struct {
		kinds    []guard.Kind
		change   change
		action   guard.Action
		reasons  []guard.Reason
		sentence string
		wants    bool
	}{
		"all of a kind are bad": {kinds: revisions(kind(guard.Share{Told: 7, Bad: 7})), action: guard.Halt, reasons: []guard.Reason{guard.KindBad},
			sentence: "Halt: 7 of 7 boxes with hardwareRevision=C are bad, in 7 factories, and 3 of 993 others."},
		"two of a kind are bad": {kinds: revisions(kind(guard.Share{Told: 2, Bad: 2})), action: guard.Hold, reasons: []guard.Reason{guard.KindDoubtful},
			sentence: "Hold: 2 of 2 boxes with hardwareRevision=C are bad, in 2 factories, and 3 of 998 others."},
		"one of a kind is bad":                    {kinds: revisions(kind(guard.Share{Told: 1, Bad: 1})), action: guard.Promote, reasons: []guard.Reason{guard.Clear}},
		"one of twenty bad boxes is of each kind": {kinds: revisions(kind(guard.Share{Told: 300, Bad: 1})), action: guard.Promote, reasons: []guard.Reason{guard.Clear}},
		"all of a kind in one organization are bad": {kinds: revisions(guard.Kind{Share: guard.Share{Told: 7, Bad: 7}, By: map[string]guard.Kind{"acme": kind(guard.Share{Told: 7, Bad: 7})}}), action: guard.Hold, reasons: []guard.Reason{guard.KindDoubtful},
			sentence: "Hold: 7 of 7 boxes with hardwareRevision=C are bad, in 7 factories, and 3 of 993 others."},
		"all of a kind are silent": {kinds: revisions(kind(guard.Share{Told: 7, Treated: guard.Group{Boxes: 7, Silent: 7}, Control: guard.Group{Boxes: 50}})),
			action: guard.Halt, reasons: []guard.Reason{guard.KindBad},
			sentence: "Halt: 7 of 7 boxes with hardwareRevision=C that the release reached are silent, and 0 of 50 that it did not reach."},
		"a kind is silent everywhere": {kinds: revisions(kind(guard.Share{Told: 7, Treated: guard.Group{Boxes: 7, Silent: 7}, Control: guard.Group{Boxes: 50, Silent: 48}})),
			action: guard.Promote, reasons: []guard.Reason{guard.Clear}},
		"nobody has looked": {change: func(e *guard.Evidence) { e.Kinds = nil }, action: guard.Hold, reasons: []guard.Reason{guard.NotSurveyed},
			sentence: "Hold: the kinds of boxes have not been looked at yet" + rest},
		"somebody looked when it was not clear": {change: func(e *guard.Evidence) {
			e.Kinds, e.Surveys = nil, []guard.Survey{{Percent: 10, Number: 1, At: e.Since.Add(time.Hour), Early: true}}
		}, action: guard.Hold, reasons: []guard.Reason{guard.NotSurveyed}},
		"too few have taken it, and nobody has looked": {change: func(e *guard.Evidence) { e.Kinds, e.Taken.Good = nil, 0 },
			action: guard.Hold, reasons: []guard.Reason{guard.TooFewTaken}, wants: true},
		"too few have taken it, and somebody looked": {change: func(e *guard.Evidence) {
			e.Kinds, e.Taken.Good = nil, 0
			e.Surveys = []guard.Survey{{Percent: 10, Number: 1, At: e.Since.Add(time.Hour), Early: true}}
		}, action: guard.Hold, reasons: []guard.Reason{guard.TooFewTaken}},
		"somebody looked at the stage before": {change: func(e *guard.Evidence) {
			e.Kinds, e.Surveys = nil, []guard.Survey{{Percent: 1, Number: 1, At: e.Since.Add(time.Hour)}}
		}, action: guard.Hold, reasons: []guard.Reason{guard.NotSurveyed}},
		"somebody looked": {change: func(e *guard.Evidence) {
			e.Kinds, e.Surveys = nil, []guard.Survey{{Percent: 10, Number: 1, At: e.Since.Add(time.Hour)}}
		}, action: guard.Promote, reasons: []guard.Reason{guard.Clear}},
		"a survey halts, and the count is new": {change: func(e *guard.Evidence) {
			e.Kinds, e.Surveys = nil, []guard.Survey{{Percent: 10, Number: 1, At: e.Since.Add(time.Hour), Halts: true,
				Culprit: &guard.Culprit{Name: "factory", Value: "north", Silent: true, Harmed: 20, Boxes: 21, OtherBoxes: 30}}}
		}, action: guard.Halt, reasons: []guard.Reason{guard.KindBad},
			sentence: "Halt: 20 of 21 boxes of factory north that the release reached are silent, and 0 of 30 that it did not reach."},
		"a person has gone on since": {change: func(e *guard.Evidence) {
			e.Kinds, e.Resumed = nil, e.Since.Add(2*time.Hour)
			e.Surveys = []guard.Survey{{Percent: 10, Number: 1, At: e.Since.Add(time.Hour), Halts: true, Culprit: &guard.Culprit{}}}
		}, action: guard.Promote, reasons: []guard.Reason{guard.Clear}},
		"a halt for failures names the kind": {kinds: revisions(kind(guard.Share{Told: 30, Bad: 30})), change: bad(1, 30), action: guard.Halt,
			reasons:  []guard.Reason{guard.TooManyBad, guard.KindBad},
			sentence: "Halt: 30 of 900 boxes of stage 10 with the release are bad, 8 more than allowed; 30 of 30 boxes with hardwareRevision=C are bad, in 30 factories, and 3 of 970 others."},
	} {
		t.Run(name, func(t *testing.T) {
			e := healthy(10)
			if c.kinds != nil {
				e.Kinds = c.kinds
			}
			if c.change != nil {
				c.change(&e)
			}
			v := guard.Decide(acting(), e, now)
			expect.Equal(t, v.Action, c.action, "the verdict is")
			expect.Equal(t, v.Reasons, c.reasons, "the reasons are")
			if c.sentence != "" {
				expect.Equal(t, v.Sentence, c.sentence, "the sentence is")
			}
			expect.Equal(t, v.Wants, c.wants || v.Reason == guard.NotSurveyed, "wants a survey")
			stops := v.Reason == guard.KindDoubtful
			expect.Equal(t, v.Stops, stops, "stops telling")
		})
	}
}

// TestDecide_ManyValues_DoNotHideOne: values that are too small to be conspicuous cost the others nothing.
func TestDecide_ManyValues_DoNotHideOne(t *testing.T) {
	e := healthy(10)
	e.Kinds = revisions(kind(guard.Share{Told: 5, Bad: 5}))
	for i := range 1600 {
		e.Kinds = append(e.Kinds, guard.Kind{Name: "hardwareRevision", Value: string(rune('a' + i)), Share: guard.Share{Told: 2}, Factories: 2})
	}
	expect.Equal(t, guard.Decide(acting(), e, now).Reason, guard.KindBad, "the verdict's reason is")
}

// TestDecide_DailySurveys_AreTakenAtFallingLevels.
func TestDecide_DailySurveys_AreTakenAtFallingLevels(t *testing.T) {
	e := healthy(10)
	p := acting()
	p.Promote.Auto = false
	e.Kinds = revisions(kind(guard.Share{Told: 2, Bad: 2}))
	for number := range 40 {
		v := guard.Decide(p, e, now)
		expect.Equal(t, v.Surveys[0].Number, number+1, "the survey's number is")
		if !v.Surveys[0].Doubts {
			return
		}
		e.Surveys = v.Surveys
		e.Surveys[0].At = e.AsOf.Add(-24 * time.Hour)
	}
	t.Error("the fortieth survey doubts as easily as the first")
}

// TestDecide_AttributesThatAreUniqueToEachBox_CostNothing: hawkBit's boxes say serial numbers and addresses.
func TestDecide_AttributesThatAreUniqueToEachBox_CostNothing(t *testing.T) {
	halts := func(bad, unique int) bool {
		e := healthy(10)
		e.Kinds = revisions(kind(guard.Share{Told: 10, Bad: bad}))
		for i := range unique {
			for box := range 1000 {
				e.Kinds = append(e.Kinds, guard.Kind{Name: fmt.Sprint("serial-", i), Value: fmt.Sprint(box), Factories: 1,
					Share: guard.Share{Told: 1, Decided: 1}})
			}
		}
		return slices.Contains(guard.Decide(acting(), e, now).Reasons, guard.KindBad)
	}
	for bad := range 7 {
		expect.Equal(t, halts(bad, 12), halts(bad, 0), "with twelve such attributes and %d of 10 boxes bad, it halts", bad)
	}
	expect.That(t, halts(3, 12) && !halts(2, 0), "three of ten are bad, or two")
}
