package guard_test

import (
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
)

// now is a Wednesday.
var now = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

// healthy is a rollout at a stage of a fleet of 10,000 boxes that all run the release, a day after it got
// there. Nobody is silent.
func healthy(stage int) guard.Evidence {
	e := guard.Evidence{
		Active: true, Stage: stage, Since: now.Add(-25 * time.Hour), AsOf: now.Add(-time.Minute), CountedAt: stage, Interval: time.Minute,
		Silence: guard.Silence{Treated: guard.Group{Boxes: 100 * min(stage, 10)}, Control: guard.Group{Boxes: 1000}},
	}
	before := 0
	for _, percent := range []int{1, 10, 50, 100} {
		b := guard.Boxes{Percent: percent, Expected: 100 * (percent - before)}
		if percent <= stage {
			b.Installed = b.Expected
		}
		e.Stages = append(e.Stages, b)
		before = percent
	}
	if stage == 100 {
		e.Silence.Kept = true
	}
	e.Silence.Present = e.Silence.Treated
	return e
}

// at is the present stage's boxes.
func at(e *guard.Evidence) *guard.Boxes {
	i := slices.IndexFunc(e.Stages, func(b guard.Boxes) bool { return b.Percent == e.Stage })
	return &e.Stages[i]
}

// turn moves installed boxes of the present stage elsewhere.
func turn(e *guard.Evidence, n int, to ...*int) {
	at(e).Installed -= n
	for _, field := range to {
		*field += n
	}
}

func revert(n int) func(*guard.Evidence) {
	return func(e *guard.Evidence) { turn(e, n, &at(e).Reverted) }
}

func silence(treated, control int) func(*guard.Evidence) {
	return func(e *guard.Evidence) { e.Silence.Treated.Silent, e.Silence.Control.Silent = treated, control }
}

// acting is the policy that acts, with its other defaults.
func acting() guard.Policy {
	p := guard.Default()
	p.Mode = guard.Act
	return p
}

func TestDecide_EveryVerdict(t *testing.T) {
	night := guard.Windows{{Days: guard.Days, From: "22:00", To: "04:00", TimeZone: "Europe/Berlin"}}
	approve := func(p *guard.Policy) { p.Approvals.Before = []int{50} }
	frozen := func(e *guard.Evidence) { e.Freeze = &guard.Freeze{Until: now.Add(time.Hour), Reason: "stocktaking"} }
	few := func(expected int) func(*guard.Evidence) {
		return func(e *guard.Evidence) {
			*at(e) = guard.Boxes{Percent: e.Stage, Expected: expected, Installed: expected}
			e.Silence.Treated.Boxes, e.Silence.Present.Boxes = expected, expected
		}
	}
	for name, c := range map[string]struct {
		stage    int
		evidence []func(*guard.Evidence)
		policy   func(*guard.Policy)
		action   guard.Action
		reasons  []guard.Reason
		sentence string
	}{
		"all is well": {stage: 10, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear with 0 of 900 boxes bad, and would be with 21 more; soaked 25 of 24 hours."},
		"all is well at the last stage": {stage: 100, action: guard.Complete, reasons: []guard.Reason{guard.Clear},
			sentence: "Complete: stage 100 is clear with 0 of 5000 boxes bad, and would be with 126 more; soaked 25 of 24 hours."},
		"many failed": {stage: 10, evidence: []func(*guard.Evidence){revert(30)}, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			sentence: "Halt: 30 of 1000 boxes with the release are bad, 3 more than may be."},
		"many failed for their plant's sake": {stage: 10, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { turn(e, 600, &at(e).Failed) }},
			action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear with 0 of 300 boxes bad, and would be with 5 more; soaked 25 of 24 hours."},
		"all failed for their plant's sake": {stage: 10, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { turn(e, 900, &at(e).Failed) }},
			action: guard.Hold, reasons: []guard.Reason{guard.Undecided},
			sentence: "Hold: 73 more good boxes clear stage 10; with 0 undecided, 28 more bad boxes or 30 more silent halt it."},
		"many are undecided": {stage: 10, action: guard.Hold, reasons: []guard.Reason{guard.Undecided, guard.Soaking},
			evidence: []func(*guard.Evidence){revert(2), func(e *guard.Evidence) {
				turn(e, 471, &at(e).Offered)
				turn(e, 329, &at(e).Deferred)
				e.Since = now.Add(-4 * time.Hour)
			}},
			sentence: "Hold: 53 more good boxes clear stage 10; soaked 4 of 24 hours; with 471 undecided, 26 more bad boxes or 28 more silent halt it."},
		"many are overdue": {stage: 10, action: guard.Hold, reasons: []guard.Reason{guard.Undecided},
			evidence: []func(*guard.Evidence){func(e *guard.Evidence) { turn(e, 40, &at(e).Working, &at(e).Overdue) }},
			sentence: "Hold: 774 more good boxes clear stage 10; with 40 undecided, 28 more bad boxes or 30 more silent halt it."},
		"many are silent that have the release": {stage: 10, evidence: []func(*guard.Evidence){silence(80, 10)}, action: guard.Halt,
			reasons:  []guard.Reason{guard.TooManySilent},
			sentence: "Halt: 80 of 1000 boxes with the release are silent, and 10 of 1000 boxes without it, which chance does not explain."},
		"many are bad and many silent": {stage: 10, evidence: []func(*guard.Evidence){revert(28), silence(80, 10)}, action: guard.Halt,
			reasons:  []guard.Reason{guard.TooManyBad, guard.TooManySilent},
			sentence: "Halt: 28 of 1000 boxes with the release are bad, 1 more than may be; 80 of 1000 boxes with the release are silent, and 10 of 1000 boxes without it, which chance does not explain."},
		"a third of all plants is off": {stage: 10, evidence: []func(*guard.Evidence){silence(300, 300)}, action: guard.Hold,
			reasons:  []guard.Reason{guard.Silent},
			sentence: "Hold: 300 of 1000 boxes with the release are silent, and 300 of 1000 boxes without it; 36 fewer clear stage 10; with 0 undecided, 28 more bad boxes or 129 more silent halt it."},
		"at the last stage silence does not halt": {stage: 100, evidence: []func(*guard.Evidence){silence(900, 10)}, action: guard.Hold,
			reasons:  []guard.Reason{guard.Silent},
			sentence: "Hold: 900 of 1000 boxes with the release are silent, and 10 of 1000 boxes without it were at the last stage; 877 fewer clear stage 100; with 0 undecided, 253 more bad boxes halt it."},
		"one organization's boxes fail": {stage: 10, action: guard.Hold, reasons: []guard.Reason{guard.OneOrganization, guard.Undecided},
			evidence: []func(*guard.Evidence){revert(90), func(e *guard.Evidence) {
				e.Organizations = []guard.Organization{{ID: "globex", Told: 90, Decided: 90, Bad: 90}, {ID: "acme", Told: 910, Decided: 910}}
			}},
			sentence: "Hold: without the boxes of organization globex there would be no halt; 2775 more good boxes clear stage 10."},
		"nearly all boxes are one organization's, and the others say too little": {stage: 10, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			evidence: []func(*guard.Evidence){revert(90), func(e *guard.Evidence) {
				e.Organizations = []guard.Organization{{ID: "globex", Told: 995, Decided: 995, Bad: 90}, {ID: "acme", Told: 5, Decided: 5}}
			}},
			sentence: "Halt: 90 of 1000 boxes with the release are bad, 63 more than may be."},
		"one organization's boxes fail at once, and the others have time left": {stage: 10, action: guard.Hold, reasons: []guard.Reason{guard.OneOrganization, guard.Undecided},
			evidence: []func(*guard.Evidence){revert(90), func(e *guard.Evidence) {
				e.Organizations = []guard.Organization{{ID: "globex", Told: 90, Decided: 90, Bad: 90}, {ID: "acme", Told: 910, Decided: 10, Waiting: 900}}
			}},
			sentence: "Hold: without the boxes of organization globex there would be no halt; 2775 more good boxes clear stage 10."},
		"the only organization's boxes fail": {stage: 10, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			evidence: []func(*guard.Evidence){revert(90), func(e *guard.Evidence) {
				e.Organizations = []guard.Organization{{ID: "globex", Told: 1000, Bad: 90}}
			}},
			sentence: "Halt: 90 of 1000 boxes with the release are bad, 63 more than may be."},
		"a small stage": {stage: 1, evidence: []func(*guard.Evidence){few(30)}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 10 percent: stage 1 is clear with 0 of 30 boxes bad, and would be with 0 more; soaked 25 of 2 hours."},
		"a small stage that is not through": {stage: 1, evidence: []func(*guard.Evidence){few(30), func(e *guard.Evidence) { turn(e, 4, &at(e).Offered) }},
			action: guard.Hold, reasons: []guard.Reason{guard.EvidenceTooSmall},
			sentence: "Hold: stage 1 has 30 boxes, fewer than the 73 of the test: 4 more good boxes clear it; with 4 undecided, 4 more bad boxes or 6 more silent halt it."},
		"a small stage with a bad box": {stage: 1, evidence: []func(*guard.Evidence){few(30), revert(1)},
			action: guard.Hold, reasons: []guard.Reason{guard.EvidenceTooSmall},
			sentence: "Hold: stage 1 has 30 boxes, fewer than the 73 of the test, and 1 of them bad; with 0 undecided, 3 more bad boxes or 6 more silent halt it."},
		"a small stage with a silent box": {stage: 1, evidence: []func(*guard.Evidence){few(30), silence(1, 0)}, action: guard.Hold,
			reasons:  []guard.Reason{guard.Silent},
			sentence: "Hold: 1 of 30 boxes with the release are silent, and 0 of 1000 boxes without it; 1 fewer clear stage 1; with 0 undecided, 4 more bad boxes or 5 more silent halt it."},
		"a small stage, some never heard of": {stage: 1, evidence: []func(*guard.Evidence){few(30), func(e *guard.Evidence) { e.Silence.Present.Boxes = 29 }}, action: guard.Hold,
			reasons:  []guard.Reason{guard.Silent},
			sentence: "Hold: 0 of 30 boxes with the release are silent, and 0 of 1000 boxes without it, and 1 box of stage 1 not seen since the stage began; with 0 undecided, 4 more bad boxes or 6 more silent halt it."},
		"a small stage that people decide": {stage: 1, evidence: []func(*guard.Evidence){few(30)}, action: guard.Hold, reasons: []guard.Reason{guard.EvidenceTooSmall},
			policy:   func(p *guard.Policy) { p.Guard.SmallFleet = guard.People },
			sentence: "Hold: stage 1 has 30 boxes, fewer than the 73 of the test, and the policy leaves it to people; with 0 undecided, 4 more bad boxes or 6 more silent halt it."},
		"a stage without a box": {stage: 1, evidence: []func(*guard.Evidence){few(0)}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 10 percent: stage 1 is clear with 0 of 0 boxes bad, and would be with 0 more; soaked 25 of 2 hours."},
		"a channel without a box": {stage: 1, action: guard.Hold, reasons: []guard.Reason{guard.EvidenceTooSmall},
			evidence: []func(*guard.Evidence){few(0), func(e *guard.Evidence) { e.Stages = e.Stages[:1] }},
			sentence: "Hold: the channel has no boxes; with 0 undecided, 3 more bad boxes halt it."},
		"too early": {stage: 10, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { e.Since = now.Add(-24*time.Hour + time.Second) }},
			action: guard.Hold, reasons: []guard.Reason{guard.Soaking},
			sentence: "Hold: soaked 23 of 24 hours; with 0 undecided, 28 more bad boxes or 29 more silent halt it."},
		"no window is open": {stage: 10, policy: func(p *guard.Policy) { p.Promote.Windows = night }, action: guard.Hold,
			reasons:  []guard.Reason{guard.WindowClosed},
			sentence: "Hold: the next window opens at 2026-03-11T21:00:00Z; with 0 undecided, 28 more bad boxes or 30 more silent halt it."},
		"frozen": {stage: 10, evidence: []func(*guard.Evidence){frozen}, action: guard.Hold, reasons: []guard.Reason{guard.Frozen},
			sentence: "Hold: rollouts are frozen until 2026-03-11T13:00:00Z; with 0 undecided, 28 more bad boxes or 30 more silent halt it."},
		"a freeze that is over": {stage: 10, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			evidence: []func(*guard.Evidence){func(e *guard.Evidence) { e.Freeze = &guard.Freeze{Until: now} }},
			sentence: "Promote to 50 percent: stage 10 is clear with 0 of 900 boxes bad, and would be with 21 more; soaked 25 of 24 hours."},
		"not approved": {stage: 10, policy: approve, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { e.Approved = []int{10, 100} }}, action: guard.Hold,
			reasons:  []guard.Reason{guard.ApprovalRequired},
			sentence: "Hold: stage 50 is not approved; with 0 undecided, 28 more bad boxes or 30 more silent halt it."},
		"approved": {stage: 10, policy: approve, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { e.Approved = []int{50} }}, action: guard.Promote,
			reasons:  []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear with 0 of 900 boxes bad, and would be with 21 more; soaked 25 of 24 hours."},
		"promoted by people": {stage: 10, policy: func(p *guard.Policy) { p.Promote.Auto = false }, action: guard.Hold, reasons: []guard.Reason{guard.PeoplePromote},
			sentence: "Hold: the policy leaves promoting to people; with 0 undecided, 28 more bad boxes or 30 more silent halt it."},
		"an old count": {stage: 10, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { e.AsOf = now.Add(-121 * time.Second) }}, action: guard.Hold,
			reasons:  []guard.Reason{guard.NotCounted},
			sentence: "Hold: the last count is from 2026-03-11T11:57:59Z; with 0 undecided, 28 more bad boxes halt it."},
		"a count of another stage": {stage: 10, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { e.CountedAt = 1 }}, action: guard.Hold,
			reasons:  []guard.Reason{guard.NotCounted},
			sentence: "Hold: the last count is of stage 1; with 0 undecided, 28 more bad boxes halt it."},
		"no count": {stage: 10, evidence: []func(*guard.Evidence){func(e *guard.Evidence) { e.AsOf = time.Time{} }}, action: guard.Hold,
			reasons:  []guard.Reason{guard.NotCounted},
			sentence: "Hold: the boxes were not counted yet; with 0 undecided, 28 more bad boxes halt it."},
		"failures halt by an old count": {stage: 10, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			evidence: []func(*guard.Evidence){revert(30), func(e *guard.Evidence) { e.AsOf = now.Add(-time.Hour) }},
			sentence: "Halt: 30 of 1000 boxes with the release are bad, 3 more than may be."},
		"silence does not halt by an old count": {stage: 10, action: guard.Hold, reasons: []guard.Reason{guard.NotCounted, guard.Silent},
			evidence: []func(*guard.Evidence){silence(80, 0), func(e *guard.Evidence) { e.AsOf = now.Add(-time.Hour) }},
			sentence: "Hold: the last count is from 2026-03-11T11:00:00Z; 80 of 1000 boxes with the release are silent, and 0 of 1000 boxes without it; 57 fewer clear stage 10; with 0 undecided, 28 more bad boxes halt it."},
		"ended": {stage: 10, evidence: []func(*guard.Evidence){revert(900), func(e *guard.Evidence) { e.Active = false }}, action: guard.Hold,
			reasons: []guard.Reason{guard.NotActive}, sentence: "Hold: the rollout is not active."},
	} {
		t.Run(name, func(t *testing.T) {
			p, e := acting(), healthy(c.stage)
			if c.policy != nil {
				c.policy(&p)
			}
			for _, change := range c.evidence {
				change(&e)
			}
			v := guard.Decide(p, e, now)
			if v.Action != c.action || !slices.Equal(v.Reasons, c.reasons) || v.Reason != c.reasons[0] || v.Acts != (c.action != guard.Hold) {
				t.Errorf("%s for %v, acts: %v; want %s for %v", v.Action, v.Reasons, v.Acts, c.action, c.reasons)
			}
			if v.Sentence != c.sentence {
				t.Errorf("says %q\nwant %q", v.Sentence, c.sentence)
			}
			p.Mode = guard.Advise
			if advice := guard.Decide(p, e, now); advice.Acts || advice.Action != v.Action || advice.Sentence != v.Sentence {
				t.Errorf("advises %s, acts: %v", advice.Sentence, advice.Acts)
			}
		})
	}
}
