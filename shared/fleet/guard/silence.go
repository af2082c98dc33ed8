package guard

import (
	"time"

	"wavegate/shared/fleet/stats"
)

// If the share of silent boxes is coarse or more, the test of silence requires a difference coarseness times as large.
const (
	coarse     = 0.20
	coarseness = 2.5
)

// compared is the number of stages that have boxes to compare with: all but the last.
const compared = 3

// Level is the significance level of a look. The guard halts if a difference between the groups as large as the one
// seen is at most this likely by chance. The levels of a stage's looks are Alpha/6 times 1/(1·2), 1/(2·3), 1/(3·4) and
// so on. So the levels of all looks of a rollout add up to at most half of Alpha.
func Level(look int) float64 {
	n := float64(look)
	return Alpha / (2 * compared) / (n * (n + 1))
}

// Due reports whether it is time to look at a stage: silentAfter has passed since the stage's start, and since the last
// look. Between two looks the guard uses the last one, so that counting more often does not cause more errors.
func (b Bounds) Due(start time.Time, last Look, at time.Time) bool {
	wait := b.SilentAfter.Length()
	return !start.IsZero() && at.Sub(start) >= wait && (last.Number == 0 || at.Sub(last.At) >= wait)
}

// apart tests a share against one that is larger by difference, both below 1.
func apart(share, difference float64) Wald {
	const nearlyAll = 0.999
	return NewWald(min(share, nearlyAll-0.001), min(share+difference, nearlyAll))
}

// tellsApart reports whether boxes are silent because of the release: too many of the treated are silent, and a
// difference to the control as large as this is at most level likely by chance. It is false without a control.
func (b Bounds) tellsApart(treated, control Group, level float64) bool {
	if control.Boxes == 0 || treated.Silent == 0 {
		return false
	}
	share, difference := float64(control.Silent)/float64(control.Boxes), b.Intolerable-b.Acceptable
	if share >= coarse {
		difference *= coarseness
	}
	return apart(max(b.Acceptable, share), difference).Likelihood(treated.Silent, treated.Boxes) >= silentAt &&
		stats.Fisher(treated.Silent, treated.Boxes, control.Silent, control.Boxes) <= level
}

// lookOf is the last look at a stage; its number is 0 if there was none.
func lookOf(looks []Look, percent int) Look {
	for _, l := range looks {
		if l.Percent == percent {
			return l
		}
	}
	return Look{Percent: percent}
}

// looks takes the looks that are due, and keeps the last ones of the other stages.
func (d decision) looks() []Look {
	var list []Look
	for i, b := range d.evidence.Stages {
		l := lookOf(d.evidence.Looks, b.Percent)
		if d.counted() && d.evidence.New && b.Control.Boxes > 0 && d.policy.Guard.Due(b.Start, l, d.evidence.AsOf) {
			l = d.look(i, l.Number+1)
		}
		if l.Number > 0 {
			l.Halts = l.Halts && l.At.After(d.evidence.Resumed)
			list = append(list, l)
		}
	}
	return list
}

// look looks at a stage.
func (d decision) look(i, number int) Look {
	b, level := d.evidence.Stages[i], Level(number)
	l := Look{Percent: b.Percent, Number: number, At: d.evidence.AsOf, Treated: b.Treated, Control: b.Control}
	l.Halts = d.policy.Guard.tellsApart(b.Treated, b.Control, level)
	if !l.Halts {
		return l
	}
	for _, o := range d.evidence.Organizations {
		if p := o.Parts[i]; b.Treated.unlike(p.Treated) && !d.policy.Guard.tellsApart(b.Treated.minus(p.Treated), b.Control.minus(p.Control), level) {
			l.Only = o.ID
			break
		}
	}
	return l
}

// Chance explains an observation that is more likely than this without a fault of the release. This is for a stage that
// is too small for the tests, or has no boxes to compare with.
const (
	badByChance  = 0.05
	awayByChance = 0.01
)

// away returns the boxes that were not seen for half of a soak and those to compare them with, and whether there are
// more of them than chance explains. A small stage is judged alone and with the stages before it.
func (d decision) away() (treated, control Group, unexplained bool) {
	e := d.evidence
	at := e.at()
	if at < 0 || !d.small() && e.next() != 0 {
		return Group{}, Group{}, false
	}
	var all, kept Group
	for i := at; i >= 0; i-- {
		treated, control = e.Stages[i].Treated, d.control(i)
		all = all.Plus(treated)
		if control.Boxes > kept.Boxes {
			kept = control
		}
		if d.policy.Guard.unexplained(treated, control) {
			return treated, control, true
		}
	}
	return all, kept, d.policy.Guard.unexplained(all, kept)
}

// control is what a stage's boxes are compared with: boxes that were never reached, or those that were reached last.
func (d decision) control(i int) Group {
	for ; i >= 0; i-- {
		if c := d.evidence.Stages[i].Control; c.Boxes > 0 {
			return c
		}
		if l := lookOf(d.evidence.Looks, d.evidence.Stages[i].Percent); l.Control.Boxes > 0 {
			return l.Control
		}
	}
	return Group{}
}

// unexplained reports whether chance does not explain how many of the treated are away. Without a control, it compares
// with the acceptable share.
func (b Bounds) unexplained(treated, control Group) bool {
	if treated.Away == 0 {
		return false
	}
	if control.Boxes == 0 {
		return stats.AtLeast(treated.Away, treated.Boxes, b.Acceptable) <= awayByChance
	}
	return stats.Fisher(treated.Away, treated.Boxes, control.Away, control.Boxes) <= awayByChance
}
