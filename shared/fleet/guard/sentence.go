package guard

import (
	"fmt"
	"strings"
	"time"
)

// sentence puts a verdict into words: what to do, why, and how far away another verdict is.
func (d decision) sentence(v Verdict) string {
	switch v.Action {
	case Halt:
		return "Halt: " + d.haltSentence(v) + "."
	case Promote:
		return fmt.Sprintf("Promote to %d percent: %s.", v.Next, d.clearSentence(v))
	case Complete:
		return fmt.Sprintf("Complete: %s.", d.clearSentence(v))
	}
	if !d.evidence.Active && v.Reason != NotActive {
		return "Completed, and " + d.afterwardsSentence(v) + "."
	}
	var parts []string
	for _, r := range v.Reasons {
		parts = append(parts, d.holdSentence(r, v))
	}
	if v.Reason != NotActive && v.Organization == "" {
		parts = append(parts, d.haltDistance(v))
	}
	return "Hold: " + strings.Join(parts, "; ") + "."
}

func (d decision) haltSentence(v Verdict) string {
	var parts []string
	for _, r := range v.Reasons {
		if r == TooManyBad {
			parts = append(parts, fmt.Sprintf("%d of %s %s are bad, %d more than allowed", v.Halting.Bad, boxes(v.Halting.Boxes), with(v.Halting.Percent), v.Distance.FewerBad))
			continue
		}
		if r == TooManySilent {
			parts = append(parts, d.telling().sentence()+", which chance does not explain")
		}
		if r == FewBad {
			parts = append(parts, d.tiny.sentence())
		}
		if r == HealthWorse {
			parts = append(parts, told(d.health, NumberLook.halts, NumberLook.sentence))
		}
	}
	if v.Culprit != nil {
		parts = append(parts, v.Culprit.sentence())
	}
	return strings.Join(parts, "; ")
}

// told puts the looks at some health numbers into words.
func told(looks []NumberLook, which func(NumberLook) bool, as func(NumberLook) string) string {
	var parts []string
	for _, l := range looks {
		if which(l) {
			parts = append(parts, as(l))
		}
	}
	return strings.Join(parts, "; ")
}

func (d decision) afterwardsSentence(v Verdict) string {
	var parts []string
	for _, r := range v.Reasons {
		if r == TooManyBad {
			parts = append(parts, fmt.Sprintf("%d of %s %s are bad", v.Halting.Bad, boxes(v.Halting.Boxes), with(v.Halting.Percent)))
			continue
		}
		parts = append(parts, d.silent(v))
	}
	return strings.Join(parts, "; ")
}

// with says which boxes a test of failures counts.
func with(percent int) string {
	if percent == 0 {
		return "with the release"
	}
	return fmt.Sprintf("of stage %d with the release", percent)
}

func (l Look) sentence() string {
	return fmt.Sprintf("%d of %s of stage %d are silent, and %d of %s that the release did not reach",
		l.Treated.Silent, boxes(l.Treated.Boxes), l.Percent, l.Control.Silent, boxes(l.Control.Boxes))
}

func (d decision) clearSentence(v Verdict) string {
	if d.vacant() {
		return fmt.Sprintf("stage %d has no boxes", v.Stage)
	}
	return fmt.Sprintf("stage %d is clear: %s, %d more than needed; %s", v.Stage, v.Taken.sentence(), v.Distance.Spare, soakedOf(v))
}

// sentence says how many boxes have run the release for a soak.
func (t Taken) sentence() string {
	of := boxes(t.Boxes)
	if !t.All {
		of += " in a sample"
	}
	return fmt.Sprintf("%d of %s have run the release for a soak", t.Good, of)
}

func (d decision) holdSentence(r Reason, v Verdict) string {
	switch r {
	case NotActive:
		return "the rollout is not active"
	case NotCounted:
		return d.notCounted()
	case OneOrganization:
		return d.aloneSentence(v)
	case FactoryBad:
		worst, _ := d.evidence.bad()
		return worst.sentence(d.told)
	case KindDoubtful:
		return v.Culprit.sentence()
	case NotSurveyed:
		return "the kinds of boxes have not been looked at yet"
	case Unreported:
		return told(d.health, d.unreported, NumberLook.missing)
	case TellingStopped:
		return "no more boxes are told until a person halts the rollout or goes on with it"
	case EvidenceTooSmall:
		return d.smallSentence(v)
	case Undecided:
		return fmt.Sprintf("%s, %d more are needed and %d may still come", v.Taken.sentence(), v.Distance.MoreGood, v.Taken.Young)
	case TooFewTaken:
		return d.tooFew(v)
	case Silent:
		return d.silent(v)
	case Soaking:
		return soakedOf(v)
	case PeoplePromote:
		if d.policy.Promote.Auto {
			return "people decide in a fleet of " + boxes(d.evidence.fleet())
		}
		return "the policy leaves promoting to people"
	case WindowClosed:
		if v.Distance.OpensAt == nil {
			return "no window opens within two weeks"
		}
		return "the next window opens at " + v.Distance.OpensAt.UTC().Format(time.RFC3339)
	case Frozen:
		return "rollouts are frozen until " + d.evidence.Freeze.Until.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("stage %d is not approved", v.Next)
}

// aloneSentence names the organization on which a halt rests, and what its boxes and those of the others say.
func (d decision) aloneSentence(v Verdict) string {
	text := fmt.Sprintf("without the boxes of organization %s there would be no halt, and those of the others contradict it", v.Organization)
	var own, all Share
	for _, o := range d.evidence.Organizations {
		sum := o.total()
		all.Bad, all.Decided = all.Bad+sum.Bad, all.Decided+sum.Decided
		if o.ID == v.Organization {
			own = sum
		}
	}
	if worse := told(d.health, NumberLook.halts, NumberLook.sentence); worse != "" {
		text += ": " + worse
	}
	if own.Bad > 0 {
		text += fmt.Sprintf(": %d of its %s are bad, and %d of %d others", own.Bad, boxes(own.Decided), all.Bad-own.Bad, all.Decided-own.Decided)
	}
	return text
}

func (d decision) notCounted() string {
	e := d.evidence
	switch {
	case e.AsOf.IsZero():
		return "the boxes have not been counted yet"
	case e.CountedAt != e.Stage:
		return fmt.Sprintf("the last count is of stage %d", e.CountedAt)
	case d.counted():
		return "how the boxes took the release has not been looked up yet"
	}
	return "the last count is from " + e.AsOf.UTC().Format(time.RFC3339)
}

func (d decision) smallSentence(v Verdict) string {
	switch {
	case d.evidence.fleet() == 0:
		return "the channel has no boxes"
	case d.tiny.doubts():
		return d.tiny.sentence()
	}
	all := d.pooled(Organization{})
	text := fmt.Sprintf("stage %d has %s with those before it, fewer than the %d that the test needs", v.Stage, boxes(all.Told), d.test.Needs())
	if d.policy.Guard.SmallFleet == People {
		return text + ", and the policy leaves it to people"
	}
	return fmt.Sprintf("%s, and %d of them bad is more than chance explains", text, all.Bad)
}

// causes words each cause.
var causes = map[Cause]string{
	Download:     "could not download it (download)",
	Space:        "have no space for it (space)",
	Power:        "lack the power for it (power)",
	Bad:          "failed with it or fell back",
	Deferred:     "were put off by a person (deferred)",
	NotInstalled: "were told and never installed it",
	NotPolled:    "have not polled since the stage began, so were not told",
	Waiting:      "wait until their plants take updates",
	Unrest:       "poll far too often or name two versions in turns (restless)",
	Vanished:     "installed it and were not seen a soak later",
}

func (d decision) tooFew(v Verdict) string {
	cause, n := v.Taken.largest()
	return fmt.Sprintf("%s, and %d are needed: most of the others, %d, %s; to go on without such boxes, lower taken in the policy",
		v.Taken.sentence(), v.Taken.Needed, n, causes[cause])
}

func (d decision) silent(v Verdict) string {
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

func (d decision) haltDistance(v Verdict) string {
	text := fmt.Sprintf("with %d undecided, %d more bad %s", v.Distance.Undecided, v.Distance.MoreBad, noun(v.Distance.MoreBad))
	if v.Distance.MoreSilent != none {
		text += fmt.Sprintf(" or %d more silent", v.Distance.MoreSilent)
	}
	if v.Distance.MoreBad == 1 && v.Distance.MoreSilent == none {
		return text + " halts it"
	}
	return text + " halt it"
}

// soakedOf writes both times rounded down, in the largest unit of which the soak has at least two.
func soakedOf(v Verdict) string {
	unit, name := int64(1), "seconds"
	switch soak := v.Distance.Soak; {
	case soak%3600 == 0 && soak >= 7200:
		unit, name = 3600, "hours"
	case soak%60 == 0 && soak >= 120:
		unit, name = 60, "minutes"
	}
	return fmt.Sprintf("soaked %d of %d %s", v.Distance.Soaked/unit, v.Distance.Soak/unit, name)
}

func boxes(n int) string { return fmt.Sprintf("%d %s", n, noun(n)) }

func noun(n int) string {
	if n == 1 {
		return "box"
	}
	return "boxes"
}
