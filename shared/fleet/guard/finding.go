package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A finding is what one test, or one thing that people set, says about a rollout.
type finding struct {
	reason Reason
	halts  bool // otherwise it holds
	// only are the organizations on each of which a halt rests alone: without its boxes there is none, and those of the others
	// contradict it.
	only []string
	// group are the boxes that it is about; nil: all. A halt names them last.
	group    *Culprit
	sentence string
}

// findings are what all tests say.
type findings []finding

// add adds a finding that holds, if it applies.
func (l *findings) add(applies bool, r Reason, sentence string) {
	if applies {
		*l = append(*l, finding{reason: r, sentence: sentence})
	}
}

// sorted returns the findings in the order of their reasons.
func (l findings) sorted() findings {
	return slices.SortedStableFunc(slices.Values(l), func(a, b finding) int {
		return cmp.Compare(slices.Index(inOrder, a.reason), slices.Index(inOrder, b.reason))
	})
}

// halting returns those that halt.
func (l findings) halting() findings {
	return slices.DeleteFunc(slices.Clone(l), func(f finding) bool { return !f.halts })
}

// holding returns those that hold.
func (l findings) holding() findings {
	return slices.DeleteFunc(slices.Clone(l), func(f finding) bool { return f.halts })
}

// reasons lists each reason once.
func (l findings) reasons() (list []Reason) {
	for _, f := range l {
		list = append(list, f.reason)
	}
	return slices.Compact(list)
}

// group is the first group that is named; nil: none.
func (l findings) group() *Culprit {
	for _, f := range l {
		if f.group != nil {
			return f.group
		}
	}
	return nil
}

// has reports whether there is a finding for a reason.
func (l findings) has(r Reason) bool { return len(l.of(r)) > 0 }

// leftToPeople reports whether the rollout waits for people, a survey or some other reasons only, and not for its boxes or for time.
func (l findings) leftToPeople(or ...Reason) bool {
	return !slices.ContainsFunc(l, func(f finding) bool {
		return !slices.Contains(or, f.reason) && !slices.Contains([]Reason{NotSurveyed, KindDoubtful, Unreported, KindAbsent, MeterChanged, TellingStopped, PeoplePromote, WindowClosed, Frozen, ApprovalRequired, Clear}, f.reason)
	})
}

// of returns those for a reason.
func (l findings) of(r Reason) findings {
	return slices.DeleteFunc(slices.Clone(l), func(f finding) bool { return f.reason != r })
}

// sentence joins the sentences of the findings.
func (l findings) sentence() string {
	var parts []string
	for _, f := range l {
		parts = append(parts, f.sentence)
	}
	return join(parts...)
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// sentence puts a verdict into words: what to do, why, and how far away another verdict is.
func (d decision) sentence(v Verdict, why findings) string {
	text := why.sentence()
	switch {
	case v.Action == Halt:
		if v.Culprit != nil {
			text = join(text, v.Culprit.sentence())
		}
		return "Halt: " + text + "."
	case v.Action == Promote:
		return fmt.Sprintf("Promote to %d percent: %s.", v.Next, text)
	case v.Action == Complete:
		return "Complete: " + text + "."
	case !d.evidence.Active && v.Reason != NotActive:
		return "Completed, and " + text + "."
	}
	if v.Retrying != nil {
		text = join(text, v.Retrying.sentence(d.policy.Mode))
	}
	// Where people must judge what has happened, how much more would halt it would sound as if so much were left.
	doubted := d.evidence.Stopped || v.Suspicion() != ""
	if v.Reason != NotActive && v.Organization == "" && !doubted && (v.Retrying == nil || !v.Retrying.Halts) {
		text = join(text, v.Distance.sentence())
	}
	return "Hold: " + text + "."
}

// sentence says how many boxes would halt the rollout.
func (d Distance) sentence() string {
	text := fmt.Sprintf("with %d undecided, %d more bad %s", d.Undecided, d.MoreBad, noun(d.MoreBad))
	if d.MoreSilent != none {
		text += fmt.Sprintf(" or %d more silent", d.MoreSilent)
	}
	if d.MoreBad == 1 && d.MoreSilent == none {
		return text + " halts it"
	}
	return text + " halt it"
}

// soaked writes both times rounded down, in the largest unit of which the soak has at least two.
func (d Distance) soaked() string {
	unit, name := int64(1), "seconds"
	switch soak := d.Soak; {
	case soak%3600 == 0 && soak >= 7200:
		unit, name = 3600, "hours"
	case soak%60 == 0 && soak >= 120:
		unit, name = 60, "minutes"
	}
	return fmt.Sprintf("soaked %d of %d %s", d.Soaked/unit, d.Soak/unit, name)
}

// clearSentence says why the rollout goes on.
func (d decision) clearSentence(v Verdict) string {
	if d.vacant() {
		return fmt.Sprintf("stage %d has no boxes", v.Stage)
	}
	text := fmt.Sprintf("stage %d is clear: %s, %d more than needed; %s", v.Stage, v.Taken.sentence(), v.Distance.Spare, v.Distance.soaked())
	for _, c := range v.Health {
		if n := d.policy.Health[c.Name]; n.Is == counter && c.Percent == v.Stage && c.Reached.Now == 0 && c.Control.Now > 0 && c.Reached.Said >= fewestSaying {
			text = join(text, c.sentence())
		}
	}
	return join(text, d.surveyed(v.Surveys).missing(), v.Young.apart())
}

func boxes(n int) string { return fmt.Sprintf("%d %s", n, noun(n)) }

func noun(n int) string {
	if n == 1 {
		return "box"
	}
	return "boxes"
}
