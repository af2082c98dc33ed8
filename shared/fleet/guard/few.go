package guard

import (
	"fmt"
	"time"

	"wavegate/shared/fleet/stats"
)

// fewBoxes is the size from which on a fleet is large enough for the tests. In a smaller one the guard counts, and by
// default people promote.
const fewBoxes = 40

// A Few is the guard's last look at a fleet of fewer than 40 boxes.
type Few struct {
	At time.Time `json:"at"`
	// Told boxes were seen since the release reached them. Harmed ones are bad or silent; boxes of a factory that is
	// switched off are not. They are in so many Factories.
	Told      int `json:"told"`
	Bad       int `json:"bad"`
	Harmed    int `json:"harmed"`
	Factories int `json:"factories"`
	// Untold boxes were not reached and call. Quiet ones were seen since the stage began, and are silent.
	Untold int `json:"untold"`
	Quiet  int `json:"quiet,omitempty"`
	// Beside is set if untold boxes call from a factory with harmed ones.
	Beside bool `json:"beside,omitempty"`
	// Only is the organization on which a halt would rest; see RestsOn.
	Only string `json:"only,omitempty"`
	// Halts is set if the release harms boxes, and Doubts if a person must judge that.
	Halts  bool `json:"halts,omitempty"`
	Doubts bool `json:"doubts,omitempty"`
}

// How many boxes must be harmed, and how many must call that the release did not reach. fewByChance is for silent boxes
// if others are silent, too.
const (
	fewestHarmed = 3
	fewestUntold = 3
	fewByChance  = 0.05
)

// judged says what the numbers mean. Only boxes that the release did not reach show that nothing else silenced those that
// it reached. At the last stage there are none, so people are paged.
func (f Few) judged() Few {
	silent := f.Harmed - f.Bad
	explained := f.Bad < fewestHarmed && f.Quiet > 0 && stats.Fisher(silent, f.Told, f.Quiet, f.Untold+f.Quiet) > fewByChance
	f.Doubts = f.Harmed >= fewestHarmed && !explained
	f.Halts = f.Doubts && (f.Factories >= 2 || f.Beside) && f.Untold >= fewestUntold && f.Only == ""
	f.Doubts = f.Doubts && !f.Halts
	return f
}

// RestsOn reports whether a halt would rest on one organization, given the look without its boxes: these would not halt, and
// they are enough to contradict it. If others are harmed, too, chance must not explain that so few of them are.
func (f Few) RestsOn(others Few) bool {
	harmed, told := f.Harmed-others.Harmed, f.Told-others.Told
	return harmed > 0 && others.Told >= OthersEnough && !others.judged().Halts &&
		(others.Harmed == 0 || stats.Fisher(harmed, told, others.Harmed, others.Told) <= contradiction)
}

func (f *Few) doubts() bool { return f != nil && f.Doubts }

func (f Few) sentence() string {
	return fmt.Sprintf("%d of %s with the release are bad or silent, in %s, and %d of %d that it did not reach are silent",
		f.Harmed, boxes(f.Told), factories(f.Factories), f.Quiet, f.Untold+f.Quiet)
}

// FewDue reports whether it is time to look at a small fleet: silentAfter has passed since the stage's start, and since the
// last look.
func (e Evidence) FewDue(p Policy) bool {
	wait := p.Guard.SilentAfter.Length()
	return e.Active && e.fleet() < fewBoxes && e.fleet() > 0 && e.AsOf.Sub(e.Since) >= wait && (e.Few == nil || e.AsOf.Sub(e.Few.At) >= wait)
}

// few is the last look at a small fleet. What was known when a person let the rollout go on does not halt or hold it again.
func (d decision) few() *Few {
	if d.evidence.Few == nil || d.evidence.fleet() >= fewBoxes {
		return nil
	}
	f := d.evidence.Few.judged()
	switch {
	case !f.At.After(d.evidence.Resumed):
		f.Halts, f.Doubts = false, false
	case d.evidence.next() == 0:
		f.Halts, f.Doubts = false, f.Halts || f.Doubts
	}
	return &f
}

// small is the test of a small fleet, or of a small stage, which is not clear if it is left to people, if there are no boxes at
// all, or if more of its boxes are bad than chance explains, alone or with the stages before it.
func (d decision) small(f *Few) (list findings) {
	if f != nil && f.Halts {
		list = append(list, finding{reason: FewBad, halts: true, sentence: f.sentence()})
	}
	all, people := d.pooled(Organization{}), d.policy.Guard.SmallFleet == People
	text := fmt.Sprintf("stage %d has %s with those before it, fewer than the %d that the test needs", d.evidence.Stage, boxes(all.Told), d.test.Needs())
	switch {
	case d.evidence.fleet() == 0:
		list.add(true, EvidenceTooSmall, "the channel has no boxes")
	case f.doubts():
		list.add(true, EvidenceTooSmall, f.sentence())
	case d.isSmall() && people:
		list.add(true, EvidenceTooSmall, text+", and the policy leaves it to people")
	case d.isSmall() && d.soakOver() && d.badUnexplained():
		list.add(true, EvidenceTooSmall, fmt.Sprintf("%s, and %d of them bad is more than chance explains", text, all.Bad))
	}
	return list
}

// toPeople reports whether the policy leaves the fleet to people because it is small.
func (d decision) toPeople() bool {
	n := d.evidence.fleet()
	return d.policy.Guard.SmallFleet == PeopleIfFew && n > 0 && n < fewBoxes
}
