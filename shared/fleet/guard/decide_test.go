package guard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/expect"
)

// now is a Wednesday.
var now = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

// healthy is a rollout at a stage of a fleet of 10,000 boxes, 25 hours after it got there. All boxes that it reaches have
// run the release for a day, and nobody is silent. The last looks were half an hour ago.
func healthy(stage int) guard.Evidence {
	e := guard.Evidence{Active: true, Stage: stage, Since: now.Add(-25 * time.Hour), AsOf: now.Add(-time.Minute), CountedAt: stage, New: true, Kinds: []guard.Kind{}}
	before := 0
	for i, percent := range cohort.Stages {
		b := guard.StageBoxes{Percent: percent, Counts: guard.Counts{Expected: 100 * (percent - before)}}
		if percent <= stage {
			b.Installed, b.Start = b.Expected, now.Add(-time.Duration(25*(4-i))*time.Hour)
			sample := min(b.Expected, 1000)
			b.Treated = guard.Group{Boxes: sample}
			l := guard.Look{Percent: percent, Number: 3, At: now.Add(-31 * time.Minute), Treated: b.Treated, Control: guard.Group{Boxes: 1000}}
			if percent < 100 {
				e.Looks = append(e.Looks, l)
			}
			if stage < 100 {
				b.Control = guard.Group{Boxes: 1000}
			}
			if percent == stage {
				e.Taken = &guard.Taken{Boxes: sample, All: sample == b.Expected, Good: sample, Needed: sample * 8 / 10}
			}
		}
		e.Stages = append(e.Stages, b)
		before = percent
	}
	return e
}

// at returns the present stage's boxes.
func at(e *guard.Evidence) *guard.StageBoxes {
	i := slices.IndexFunc(e.Stages, func(b guard.StageBoxes) bool { return b.Percent == e.Stage })
	return &e.Stages[i]
}

type change = func(*guard.Evidence)

// bad makes installed boxes of a stage fall back.
func bad(stage, n int) change {
	return func(e *guard.Evidence) {
		b := &e.Stages[stage]
		b.Installed, b.Reverted, b.Bad = b.Installed-n, b.Reverted+n, b.Bad+n
	}
}

// silent makes boxes of a stage and of the control silent.
func silent(stage, treated, control int) change {
	return func(e *guard.Evidence) {
		e.Stages[stage].Treated.Silent, e.Stages[stage].Control.Silent = treated, control
	}
}

// took sets how the present stage's boxes took the release.
func took(good, young int, causes map[guard.Cause]int) change {
	return func(e *guard.Evidence) { e.Taken.Good, e.Taken.Young, e.Taken.Causes = good, young, causes }
}

// few sets the number of boxes of the present stage, which is 1.
func few(n int) change {
	return func(e *guard.Evidence) {
		b := at(e)
		b.Expected, b.Installed, b.Treated, e.Looks = n, n, guard.Group{Boxes: n}, nil
		*e.Taken = guard.Taken{Boxes: n, All: true, Good: n}
		e.Taken.Needed = guard.Default().Guard.Needed(*e.Taken)
	}
}

func since(age time.Duration) change { return func(e *guard.Evidence) { e.Since = now.Add(-age) } }

// acting is the default policy, with automatic promotion of clear stages.
func acting() guard.Policy {
	p := guard.Default()
	p.Promote.Soak.At10 = p.Promote.Soak.At1
	p.Promote.Auto = true
	return p
}

// by distributes the boxes of the present stage over two organizations.
func by(told, bad int) change {
	return func(e *guard.Evidence) {
		first, second := guard.Organization{ID: "globex"}, guard.Organization{ID: "acme"}
		for i, b := range e.Stages {
			var p, q guard.Share
			n := b.Installed + b.Reverted + b.Offered
			if b.Percent == e.Stage {
				p = guard.Share{Told: told, Bad: bad, Decided: told}
			}
			q = guard.Share{Told: n - p.Told, Bad: b.Bad - p.Bad, Decided: n - p.Told, Treated: b.Treated, Control: b.Control}
			_ = i
			first.Parts, second.Parts = append(first.Parts, p), append(second.Parts, q)
		}
		e.Organizations = []guard.Organization{first, second}
	}
}

func TestDecide_EveryVerdict(t *testing.T) {
	night := calendar.Windows{{Days: calendar.Days, From: "22:00", To: "04:00", TimeZone: "Europe/Berlin"}}
	for name, c := range map[string]struct {
		stage    int
		evidence []change
		policy   func(*guard.Policy)
		action   guard.Action
		reasons  []guard.Reason
		sentence string
	}{
		"all is well": {stage: 10, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},
		"all is well at the last stage": {stage: 100, action: guard.Complete, reasons: []guard.Reason{guard.Clear},
			sentence: "Complete: stage 100 is clear: 1000 of 1000 boxes in a sample have run the release for a soak, 200 more than needed; soaked 25 of 24 hours."},

		// Failures.
		"many of all told boxes are bad": {stage: 10, evidence: []change{since(time.Hour), bad(1, 35)}, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			sentence: "Halt: 35 of 900 boxes of stage 10 with the release are bad, 9 more than allowed."},
		"an earlier stage is bad, and the present one is not": {stage: 50, evidence: []change{since(time.Hour), bad(0, 25)}, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			sentence: "Halt: 25 of 100 boxes of stage 1 with the release are bad, 19 more than allowed."},
		"bad boxes that more time could explain": {stage: 10, evidence: []change{since(23 * time.Hour), bad(1, 24)}, action: guard.Hold, reasons: []guard.Reason{guard.Soaking},
			sentence: "Hold: soaked 23 of 24 hours; with 0 undecided, 3 more bad boxes or 13 more silent halt it."},
		"bad boxes that no more time will explain": {stage: 10, evidence: []change{bad(1, 24)}, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			sentence: "Halt: 24 of 900 boxes of stage 10 with the release are bad, 2 more than allowed."},
		"as many bad boxes as are acceptable": {stage: 10, evidence: []change{bad(1, 12)}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},
		"failures halt on an old count": {stage: 10, action: guard.Halt, reasons: []guard.Reason{guard.TooManyBad},
			evidence: []change{bad(1, 35), func(e *guard.Evidence) { e.AsOf = now.Add(-time.Hour) }},
			sentence: "Halt: 35 of 900 boxes of stage 10 with the release are bad, 13 more than allowed."},

		// Silence.
		"many are silent that have the release": {stage: 10, evidence: []change{silent(1, 72, 10)}, action: guard.Halt, reasons: []guard.Reason{guard.TooManySilent},
			sentence: "Halt: 72 of 900 boxes of stage 10 are silent, and 10 of 1000 boxes that the release did not reach, which chance does not explain: they are dead or cut off, or call less often with the release."},
		"an earlier stage is silent": {stage: 50, evidence: []change{silent(0, 40, 10)}, action: guard.Halt, reasons: []guard.Reason{guard.TooManySilent},
			sentence: "Halt: 40 of 100 boxes of stage 1 are silent, and 10 of 1000 boxes that the release did not reach, which chance does not explain: they are dead or cut off, or call less often with the release."},
		"many are bad and many silent": {stage: 10, evidence: []change{bad(1, 35), silent(1, 72, 10)}, action: guard.Halt,
			reasons:  []guard.Reason{guard.TooManyBad, guard.TooManySilent},
			sentence: "Halt: 35 of 900 boxes of stage 10 with the release are bad, 13 more than allowed; 72 of 900 boxes of stage 10 are silent, and 10 of 1000 boxes that the release did not reach, which chance does not explain: they are dead or cut off, or call less often with the release."},
		"a third of all factories is off": {stage: 10, evidence: []change{silent(1, 270, 300)}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},
		"silent before the next look is due": {stage: 10, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			evidence: []change{silent(1, 72, 10), func(e *guard.Evidence) { e.Looks[1].At = now.Add(-30 * time.Minute) }},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},
		"silent to a caller who wants a new count": {stage: 10, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			evidence: []change{silent(1, 72, 10), func(e *guard.Evidence) { e.New = false }},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},
		"the last look halts": {stage: 10, action: guard.Halt, reasons: []guard.Reason{guard.TooManySilent},
			evidence: []change{func(e *guard.Evidence) {
				e.New = false
				e.Looks[1] = guard.Look{Percent: 10, Number: 4, At: now, Treated: guard.Group{Boxes: 900, Silent: 72}, Control: guard.Group{Boxes: 1000}, Halts: true}
			}},
			sentence: "Halt: 72 of 900 boxes of stage 10 are silent, and 0 of 1000 boxes that the release did not reach, which chance does not explain: they are dead or cut off, or call less often with the release."},
		"at the last stage silence holds": {stage: 100, evidence: []change{func(e *guard.Evidence) { at(e).Treated.Away = 40 }}, action: guard.Hold, reasons: []guard.Reason{guard.Silent},
			sentence: "Hold: 40 of 1000 boxes with the release were not seen for half a soak, and 0 of 1000 boxes without it before; with 0 undecided, 125 more bad boxes halt it."},
		"silence does not halt on an old count": {stage: 10, action: guard.Hold, reasons: []guard.Reason{guard.NotCounted},
			evidence: []change{silent(1, 72, 0), func(e *guard.Evidence) { e.AsOf = now.Add(-time.Hour) }},
			sentence: "Hold: the last count is from 2026-03-11T11:00:00Z; with 0 undecided, 23 more bad boxes or 12 more silent halt it."},

		// Clearing.
		"too few have run it for a soak yet": {stage: 10, evidence: []change{took(700, 100, map[guard.Cause]int{guard.Deferred: 100})}, action: guard.Hold, reasons: []guard.Reason{guard.Undecided},
			sentence: "Hold: 700 of 900 boxes have run the release for a soak, 20 more are needed and 100 may still come; with 0 undecided, 23 more bad boxes or 13 more silent halt it."},
		"half have no space": {stage: 10, evidence: []change{took(400, 20, map[guard.Cause]int{guard.Space: 470, guard.Vanished: 10})}, action: guard.Hold, reasons: []guard.Reason{guard.TooFewTaken},
			sentence: "Hold: 400 of 900 boxes have run the release for a soak, and 720 are needed: of the others, 470 have no space for it (space), 10 installed it and were not seen a soak later; the release may be the cause for 10 of them, so look at these before you go on; with 0 undecided, 23 more bad boxes or 13 more silent halt it."},
		"how they took it was not looked up": {stage: 10, evidence: []change{func(e *guard.Evidence) { e.Taken = nil }}, action: guard.Hold, reasons: []guard.Reason{guard.NotCounted},
			sentence: "Hold: how the boxes took the release has not been looked up yet; with 0 undecided, 23 more bad boxes or 13 more silent halt it."},
		"too early": {stage: 10, evidence: []change{since(24*time.Hour - time.Second)}, action: guard.Hold, reasons: []guard.Reason{guard.Soaking},
			sentence: "Hold: soaked 23 of 24 hours; with 0 undecided, 27 more bad boxes or 13 more silent halt it."},

		// Small fleets.
		"a small stage": {stage: 1, evidence: []change{few(30)}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 10 percent: stage 1 is clear: 30 of 30 boxes have run the release for a soak, 6 more than needed; soaked 25 of 24 hours."},
		"a small stage with bad boxes that chance explains": {stage: 1, evidence: []change{few(30), bad(0, 1)}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 10 percent: stage 1 is clear: 30 of 30 boxes have run the release for a soak, 6 more than needed; soaked 25 of 24 hours."},
		"a small stage with a bad box too many": {stage: 1, evidence: []change{few(5), bad(0, 1)}, action: guard.Hold, reasons: []guard.Reason{guard.EvidenceTooSmall},
			sentence: "Hold: stage 1 has 5 boxes with those before it, fewer than the 73 that the test needs, and 1 of them bad is more than chance explains; with 0 undecided, 4 more bad boxes or 3 more silent halt it."},
		"a small stage with boxes that are away": {stage: 1, evidence: []change{few(30), func(e *guard.Evidence) { e.Stages[0].Treated.Away = 2 }}, action: guard.Hold, reasons: []guard.Reason{guard.Silent},
			sentence: "Hold: 2 of 30 boxes with the release were not seen for half a soak, and 0 of 1000 boxes that it did not reach; with 0 undecided, 5 more bad boxes or 3 more silent halt it."},
		"a small stage that people decide": {stage: 1, evidence: []change{few(30)}, action: guard.Hold, reasons: []guard.Reason{guard.EvidenceTooSmall},
			policy:   func(p *guard.Policy) { p.Guard.SmallFleet = guard.People },
			sentence: "Hold: stage 1 has 30 boxes with those before it, fewer than the 73 that the test needs, and the policy leaves it to people; with 0 undecided, 5 more bad boxes or 3 more silent halt it."},
		"a stage without a box": {stage: 1, evidence: []change{few(0)}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 10 percent: stage 1 is clear: 0 of 0 boxes have run the release for a soak, 0 more than needed; soaked 25 of 24 hours."},
		"a channel without a box": {stage: 1, action: guard.Hold, reasons: []guard.Reason{guard.EvidenceTooSmall},
			evidence: []change{few(0), func(e *guard.Evidence) { e.Stages = e.Stages[:1] }},
			sentence: "Hold: the channel has no boxes; with 0 undecided, 5 more bad boxes halt it."},

		// One organization.
		"one organization's boxes are bad": {stage: 10, evidence: []change{bad(1, 90), by(90, 90)}, action: guard.Hold,
			reasons:  []guard.Reason{guard.OneOrganization},
			sentence: "Hold: without the boxes of organization globex there would be no halt, and those of the others contradict it: 90 of its 90 boxes are bad, and 0 of 910 others."},
		"one organization's boxes are bad, and a few of the others": {stage: 10, evidence: []change{bad(1, 90), by(100, 80)}, action: guard.Hold,
			reasons:  []guard.Reason{guard.OneOrganization},
			sentence: "Hold: without the boxes of organization globex there would be no halt, and those of the others contradict it: 80 of its 100 boxes are bad, and 10 of 900 others."},
		"one organization's boxes are bad, and the others alone would halt it": {stage: 10, evidence: []change{bad(1, 90), by(50, 50)}, action: guard.Halt,
			reasons:  []guard.Reason{guard.TooManyBad},
			sentence: "Halt: 90 of 900 boxes of stage 10 with the release are bad, 68 more than allowed."},
		"one organization's boxes are bad, and the others have too few": {stage: 1, evidence: []change{bad(0, 90), by(95, 90)}, action: guard.Halt,
			reasons:  []guard.Reason{guard.TooManyBad},
			sentence: "Halt: 90 of 100 boxes with the release are bad, 85 more than allowed."},
		"stopped, and a person has not decided": {stage: 10, evidence: []change{func(e *guard.Evidence) { e.Stopped = true }}, action: guard.Hold, reasons: []guard.Reason{guard.TellingStopped},
			sentence: "Hold: no more boxes are told until a person halts the rollout or goes on with it."},
		"resumed after a look that would halt it": {stage: 10, evidence: []change{func(e *guard.Evidence) {
			e.New, e.Resumed = false, now
			e.Looks = []guard.Look{{Percent: 10, Number: 1, At: now.Add(-time.Minute), Treated: guard.Group{Boxes: 900, Silent: 90}, Control: guard.Group{Boxes: 1000}, Halts: true}}
		}}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},

		// What people set.
		"no window is open": {stage: 10, policy: func(p *guard.Policy) { p.Promote.Windows = night }, action: guard.Hold, reasons: []guard.Reason{guard.WindowClosed},
			sentence: "Hold: the next window opens at 2026-03-11T21:00:00Z; with 0 undecided, 23 more bad boxes or 13 more silent halt it."},
		"no window is open, at the last stage": {stage: 100, policy: func(p *guard.Policy) { p.Promote.Windows = night }, action: guard.Complete, reasons: []guard.Reason{guard.Clear},
			sentence: "Complete: stage 100 is clear: 1000 of 1000 boxes in a sample have run the release for a soak, 200 more than needed; soaked 25 of 24 hours."},
		"frozen": {stage: 10, evidence: []change{func(e *guard.Evidence) { e.Freeze = &guard.Freeze{Until: now.Add(time.Hour)} }}, action: guard.Hold, reasons: []guard.Reason{guard.Frozen},
			sentence: "Hold: rollouts are frozen until 2026-03-11T13:00:00Z; with 0 undecided, 23 more bad boxes or 13 more silent halt it."},
		"a freeze that is over": {stage: 10, evidence: []change{func(e *guard.Evidence) { e.Freeze = &guard.Freeze{Until: now} }}, action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},
		"not approved": {stage: 10, policy: func(p *guard.Policy) { p.Approvals.Before = []int{50} }, evidence: []change{func(e *guard.Evidence) { e.Approved = []int{10, 100} }},
			action: guard.Hold, reasons: []guard.Reason{guard.ApprovalRequired},
			sentence: "Hold: stage 50 is not approved; with 0 undecided, 23 more bad boxes or 13 more silent halt it."},
		"approved": {stage: 10, policy: func(p *guard.Policy) { p.Approvals.Before = []int{50} }, evidence: []change{func(e *guard.Evidence) { e.Approved = []int{50} }},
			action: guard.Promote, reasons: []guard.Reason{guard.Clear},
			sentence: "Promote to 50 percent: stage 10 is clear: 900 of 900 boxes have run the release for a soak, 180 more than needed; soaked 25 of 24 hours."},
		"promoted by people": {stage: 10, policy: func(p *guard.Policy) { p.Promote.Auto = false }, action: guard.Hold, reasons: []guard.Reason{guard.PeoplePromote},
			sentence: "Hold: the policy leaves promoting to people; with 0 undecided, 23 more bad boxes or 13 more silent halt it."},

		// Counts.
		"an old count": {stage: 10, evidence: []change{func(e *guard.Evidence) { e.AsOf = now.Add(-121 * time.Second) }}, action: guard.Hold, reasons: []guard.Reason{guard.NotCounted},
			sentence: "Hold: the last count is from 2026-03-11T11:57:59Z; with 0 undecided, 23 more bad boxes or 12 more silent halt it."},
		"a count of another stage": {stage: 10, evidence: []change{func(e *guard.Evidence) { e.CountedAt = 1 }}, action: guard.Hold, reasons: []guard.Reason{guard.NotCounted},
			sentence: "Hold: the last count is of stage 1; with 0 undecided, 23 more bad boxes or 12 more silent halt it."},
		"no count": {stage: 10, evidence: []change{func(e *guard.Evidence) { e.AsOf = time.Time{} }}, action: guard.Hold, reasons: []guard.Reason{guard.NotCounted},
			sentence: "Hold: the boxes have not been counted yet; with 0 undecided, 23 more bad boxes or 12 more silent halt it."},
		"completed, and silent since": {stage: 100, evidence: []change{func(e *guard.Evidence) { e.Active, e.Completed, at(e).Treated.Away = false, true, 40 }},
			action: guard.Hold, reasons: []guard.Reason{guard.Silent},
			sentence: "Completed, and 40 of 1000 boxes with the release were not seen for half a soak, and 0 of 1000 boxes without it before."},
		"completed, and bad since": {stage: 100, evidence: []change{bad(3, 400), func(e *guard.Evidence) { e.Active, e.Completed = false, true }},
			action: guard.Hold, reasons: []guard.Reason{guard.TooManyBad},
			sentence: "Completed, and 400 of 5000 boxes of stage 100 with the release are bad."},
		"completed, and well": {stage: 100, evidence: []change{func(e *guard.Evidence) { e.Active, e.Completed = false, true }},
			action: guard.Hold, reasons: []guard.Reason{guard.NotActive}, sentence: "Hold: the rollout is not active."},
		"ended": {stage: 10, evidence: []change{bad(1, 900), func(e *guard.Evidence) { e.Active = false }}, action: guard.Hold,
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
			pages := strings.HasPrefix(c.sentence, "Completed, and") || c.stage == 100 && slices.Contains(c.reasons, guard.Silent)
			expect.That(t, v.Pages == pages, "pages people: %v", v.Pages)
			expect.That(t, v.Sentence == c.sentence, "says %q\nwant %q", v.Sentence, c.sentence)
			p.Mode = guard.Advise
			if advice := guard.Decide(p, e, now); advice.Acts || advice.Action != v.Action || advice.Sentence != v.Sentence {
				t.Errorf("advises %s, acts: %v", advice.Sentence, advice.Acts)
			}
		})
	}
}
