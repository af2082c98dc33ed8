package guard

import (
	"fmt"
	"strings"
	"time"
)

// sentence tells a verdict in words: what to do, why, and how far away another verdict is.
func (d decision) sentence(v Verdict) string {
	switch v.Action {
	case Halt:
		return "Halt: " + d.haltSentence(v) + "."
	case Promote:
		return fmt.Sprintf("Promote to %d percent: %s.", v.Next, d.clearSentence(v))
	case Complete:
		return fmt.Sprintf("Complete: %s.", d.clearSentence(v))
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
			parts = append(parts, fmt.Sprintf("%d of %s with the release are bad, %d more than may be", v.Halting.Bad, boxes(v.Halting.Boxes), v.Distance.FewerBad))
			continue
		}
		parts = append(parts, d.groups(v)+", which chance does not explain")
	}
	return strings.Join(parts, "; ")
}

func (d decision) clearSentence(v Verdict) string {
	return fmt.Sprintf("stage %d is clear with %d of %s bad, and would be with %d more; %s", v.Stage, v.Clearing.Bad, boxes(v.Clearing.Boxes), v.Distance.Spare, soakedOf(v))
}

func (d decision) holdSentence(r Reason, v Verdict) string {
	switch r {
	case NotActive:
		return "the rollout is not active"
	case NotCounted:
		return d.notCounted()
	case OneOrganization:
		return fmt.Sprintf("without the boxes of organization %s there would be no halt", v.Organization)
	case EvidenceTooSmall:
		return d.tooSmall(v)
	case Undecided:
		return fmt.Sprintf("%d more good %s stage %d", v.Distance.MoreGood, clearing(v.Distance.MoreGood), v.Stage)
	case Silent:
		return d.silent(v)
	case Soaking:
		return soakedOf(v)
	case PeoplePromote:
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

func (d decision) notCounted() string {
	e := d.evidence
	switch {
	case e.AsOf.IsZero():
		return "the boxes were not counted yet"
	case e.CountedAt != e.Stage:
		return fmt.Sprintf("the last count is of stage %d", e.CountedAt)
	}
	return "the last count is from " + e.AsOf.UTC().Format(time.RFC3339)
}

func (d decision) tooSmall(v Verdict) string {
	text := fmt.Sprintf("stage %d has %s, fewer than the %d of the test", v.Stage, boxes(d.stage.Expected), d.test.Needs())
	switch {
	case d.policy.Guard.SmallFleet == People:
		return text + ", and the policy leaves it to people"
	case d.stage.Expected == 0:
		return "the channel has no boxes"
	case d.stage.bad() > 0:
		return fmt.Sprintf("%s, and %d of them bad", text, d.stage.bad())
	}
	return fmt.Sprintf("%s: %d more good %s it", text, v.Distance.MoreGood, clearing(v.Distance.MoreGood))
}

func (d decision) silent(v Verdict) string {
	text := d.groups(v)
	unseen := d.stage.Installed - d.evidence.Silence.Present.Boxes
	switch {
	case d.small() && unseen > 0:
		return fmt.Sprintf("%s, and %s of stage %d not seen since the stage began", text, boxes(unseen), v.Stage)
	case v.Distance.FewerSilent == none:
		return text + ", too few to tell"
	}
	return fmt.Sprintf("%s; %d fewer clear stage %d", text, v.Distance.FewerSilent, v.Stage)
}

// groups compares how many boxes are silent.
func (d decision) groups(v Verdict) string {
	text := fmt.Sprintf("%d of %s with the release are silent, ", v.Treated.Silent, boxes(v.Treated.Boxes))
	switch {
	case v.Control.Boxes == 0:
		return text + "with none to compare with"
	case d.evidence.Silence.Kept:
		return text + fmt.Sprintf("and %d of %s without it were at the last stage", v.Control.Silent, boxes(v.Control.Boxes))
	}
	return text + fmt.Sprintf("and %d of %s without it", v.Control.Silent, boxes(v.Control.Boxes))
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

// soakedOf writes both times in the largest unit that the whole soak has two or more of, rounded down.
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

// clearing says that so many boxes clear something.
func clearing(n int) string {
	if n == 1 {
		return "box clears"
	}
	return "boxes clear"
}
