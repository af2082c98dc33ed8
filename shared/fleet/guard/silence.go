package guard

import (
	"fmt"
	"slices"
	"time"

	"wavegate/shared/fleet/stats"
)

// If the share of silent boxes is coarse or more, as at night, the test of silence requires a difference coarseness times that of
// failures. Otherwise it has a floor of its own: a dead box is worse than one that failed, whatever a policy accepts.
const (
	coarse        = 0.20
	coarseness    = 2.5
	silentFloor   = 0.002
	silentFurther = 0.018 // the difference that it looks for
)

// A hold because of silence rests on Fisher's test alone, which is exact whatever else silences boxes: nights and dark plants are
// in both groups. The levels are those of all looks and all surveys of a stage. To hold or to halt takes so many silent boxes.
const (
	fewestSilent = 3
	lookHold10   = 0.0015
	lookHold50   = 0.0005
	surveyHold10 = 0.0025
	surveyHold50 = 0.005
)

// lookHold is the level at which a look at a stage holds.
func lookHold(percent, number int) float64 {
	budget := map[int]float64{10: lookHold10, 50: lookHold50}[percent]
	return budget / float64(number*(number+1))
}

// surveyHold is the level at which a survey of a stage holds because of silence. The first one, just before the next stage, has four
// fifths.
func surveyHold(percent, number int) float64 {
	const first = 0.8
	budget := map[int]float64{10: surveyHold10, 50: surveyHold50}[percent]
	if number == 1 {
		return budget * first
	}
	return budget * (1 - first) / float64(number*(number-1))
}

// silenceHolds reports whether silence holds a rollout at a level. What held it before holds it still while chance does not
// explain it.
func silenceHolds(treated, control Group, level float64, before bool) bool {
	if before {
		level = max(level, awayByChance)
	}
	return treated.Silent >= fewestSilent && control.Boxes > 0 && stats.Fisher(treated.Silent, treated.Boxes, control.Silent, control.Boxes) <= level
}

// compared is the number of stages that have boxes to compare with: all but the last.
const compared = 3

// Level is the significance level of a look. The guard halts if a difference between the groups as large as the one
// seen is at most this likely by chance. The levels of a stage's looks are Alpha/6 times 1/(1·2), 1/(2·3), 1/(3·4) and
// so on. So the levels of all looks of a rollout add up to at most half of Alpha.
func Level(look int) float64 {
	n := float64(look)
	return Alpha / (2 * compared) / (n * (n + 1))
}

// Due reports whether it is time to look at a stage: silentAfter has passed since the stage's start, and since the last of
// the looks at it. Between two looks the guard uses the last one, so that counting more often does not cause more errors.
func (b Bounds) Due(percent int, start time.Time, looks []Look, at time.Time) bool {
	wait, last := b.SilentAfter.Length(), lookOf(looks, percent)
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
	if control.Boxes == 0 || treated.Silent < fewestSilent {
		return false
	}
	share, difference := float64(control.Silent)/float64(control.Boxes), silentFurther
	if share >= coarse {
		difference = coarseness * (b.Intolerable - b.Acceptable)
	}
	return apart(max(silentFloor, share), difference).Likelihood(treated.Silent, treated.Boxes) >= silentAt &&
		stats.Fisher(treated.Silent, treated.Boxes, control.Silent, control.Boxes) <= level
}

// A Look is the guard's last look at the silence of a stage.
type Look struct {
	Percent int       `json:"percent"`
	Number  int       `json:"number"` // of the stage's looks, from 1
	At      time.Time `json:"at"`
	Treated Group     `json:"treated"`
	Control Group     `json:"control"`
	// Halts is set if the treated are silent because of the release, and Doubts if a person must judge that.
	Halts  bool `json:"halts,omitempty"`
	Doubts bool `json:"doubts,omitempty"`
	// Only is the organization without which it would not halt.
	Only string `json:"only,omitempty"`
}

func (l Look) sentence() string {
	return silentSentence(fmt.Sprintf(" of stage %d", l.Percent), l.Treated, l.Control)
}

// silentSentence says how many boxes are silent, and what that may mean.
func silentSentence(of string, treated, control Group) string {
	return fmt.Sprintf("%d of %s%s are silent, and %d of %s that the release did not reach, which chance does not explain: "+
		"they are dead or cut off, or call less often with the release", treated.Silent, boxes(treated.Boxes), of, control.Silent, boxes(control.Boxes))
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

// telling is the look that a verdict shows: the one that halts, otherwise that of the present stage.
func telling(looks []Look, stage int) Look {
	if i := slices.IndexFunc(looks, func(l Look) bool { return l.Halts }); i >= 0 {
		return looks[i]
	}
	return lookOf(looks, stage)
}

// silenced is the test of silence. Only the first look that halts or holds is put into words.
func silenced(looks []Look) (list findings) {
	if i := slices.IndexFunc(looks, func(l Look) bool { return l.Doubts }); i >= 0 {
		list.add(!slices.ContainsFunc(looks, func(l Look) bool { return l.Halts }), Silent, looks[i].sentence())
	}
	for _, l := range looks {
		if l.Halts {
			f := finding{reason: TooManySilent, halts: true, only: []string{l.Only}}
			if len(list) == 0 {
				f.sentence = l.sentence()
			}
			list = append(list, f)
		}
	}
	return list
}

// looks takes the looks that are due, and keeps the last ones of the other stages.
func (d decision) looks() []Look {
	var list []Look
	for i, b := range d.evidence.Stages {
		l := lookOf(d.evidence.Looks, b.Percent)
		if d.counted() && d.evidence.New && b.Control.Boxes > 0 && d.policy.Guard.Due(b.Percent, b.Start, d.evidence.Looks, d.evidence.AsOf) {
			l = d.look(i, l)
		}
		if l.Number > 0 {
			after := l.At.After(d.evidence.Resumed)
			l.Halts, l.Doubts = l.Halts && after, l.Doubts && after
			list = append(list, l)
		}
	}
	return list
}

// look looks at a stage again.
func (d decision) look(i int, last Look) Look {
	number := last.Number + 1
	b, level := d.evidence.Stages[i], Level(number)
	l := Look{Percent: b.Percent, Number: number, At: d.evidence.AsOf, Treated: b.Treated, Control: b.Control}
	l.Halts = d.policy.Guard.tellsApart(b.Treated, b.Control, level)
	if !l.Halts {
		l.Doubts = silenceHolds(b.Treated, b.Control, lookHold(b.Percent, number), last.Doubts && last.At.After(d.evidence.Resumed))
		return l
	}
	for _, o := range d.evidence.Organizations {
		own := o.Parts[i]
		others := Share{Treated: b.Treated, Control: b.Control}.minus(own)
		if contradicted(own.Treated.Silent, own.Treated.Boxes, others.Treated.Silent, others.Treated.Boxes) && !d.policy.Guard.tellsApart(others.Treated, others.Control, level) {
			l.Only = o.ID
			break
		}
	}
	return l
}

// moreSilent is how many more silent boxes would have caused a halt at a look, or none if no number of them would.
func (d decision) moreSilent(l Look) int {
	rest := l.Treated.Boxes - l.Treated.Silent
	more := least(func(more int) bool {
		more = min(more, rest+1)
		return more > rest || d.policy.Guard.tellsApart(Group{Boxes: l.Treated.Boxes, Silent: l.Treated.Silent + more}, l.Control, Level(l.Number))
	})
	if more > rest {
		return none
	}
	return more
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
	if at < 0 || !d.isSmall() && e.next() != 0 {
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

func awaySentence(v Verdict) string {
	text := fmt.Sprintf("%d of %s with the release were not seen for half a soak", v.Treated.Away, boxes(v.Treated.Boxes))
	if v.Control.Boxes == 0 {
		return text + ", with no boxes to compare with"
	}
	where := "that it did not reach"
	if v.Next == 0 {
		where = "without it before"
	}
	return fmt.Sprintf("%s, and %d of %s %s", text, v.Control.Away, boxes(v.Control.Boxes), where)
}
