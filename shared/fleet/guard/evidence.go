package guard

import "time"

// Boxes are the boxes that a stage is the first to reach, by their stand with the release. Blaming and Overdue are
// counted only for the guard; the others are those of a census.
type Boxes struct {
	Percent int // of the stage
	// Expected is the sum of all others once the rollout reaches the stage.
	Expected     int
	NotYetPolled int
	Offered      int
	Working      int
	Deferred     int
	Installed    int
	Failed       int
	Reverted     int
	// Blaming are the failed boxes whose code is about the release.
	Blaming int
	// Overdue are the ones that are offered or working for longer than the policy's DecideWithin.
	Overdue int
}

func (b Boxes) told() int {
	return b.Offered + b.Working + b.Deferred + b.Installed + b.Failed + b.Reverted
}

// bad counts the boxes that are evidence against the release. Other failed boxes have a fault of their plant, such as
// no space. They are no evidence.
func (b Boxes) bad() int { return b.Blaming + b.Reverted }

// undecided boxes may still turn out bad.
func (b Boxes) undecided() int { return b.Offered + b.Working }

// A Group is boxes of which it is known when they were last seen, and how many of them are silent.
type Group struct {
	Boxes  int `json:"boxes"`
	Silent int `json:"silent"`
}

func (g Group) minus(h Group) Group { return Group{g.Boxes - h.Boxes, g.Silent - h.Silent} }

// Silence compares boxes that have the release with boxes that do not. A box is silent if it was not seen
// for the policy's SilentAfter.
//
// Both groups are random samples of boxes that were seen at or after the start of the present stage. That is
// what makes them comparable: which boxes a stage reaches is a matter of a hash, so a plant that is switched
// off silences both alike. A box that was not seen since then belongs to neither, whatever its stage.
type Silence struct {
	// Treated are boxes that were told the release, at whatever stage, and neither failed nor reverted.
	Treated Group
	// Present are those of the treated that the present stage was the first to reach.
	Present Group
	// Control are boxes that the rollout does not reach yet.
	Control Group
	// Kept is set where the control is the last one that was taken at an earlier stage: at 100 percent
	// there are no boxes to compare with.
	Kept bool
}

// An Organization is what the boxes of one organization contribute, at all stages.
type Organization struct {
	ID string
	// Told are the boxes that were told the release, Decided those of them that are installed, failed or reverted,
	// Waiting those that are offered or working and not overdue, and Bad those that speak against the release.
	Told, Decided, Waiting, Bad int
	Treated                     Group
	Control                     Group
}

// A Freeze keeps every rollout where it is until a time.
type Freeze struct {
	Until  time.Time
	Reason string
}

// Evidence is all that a verdict rests on beside the policy.
type Evidence struct {
	Active bool // the rollout is
	// Stage is the rollout's present stage in percent, and Since when it got there, or was last resumed.
	Stage int
	Since time.Time
	// AsOf is when the boxes were counted; zero: never. CountedAt was the rollout's stage then.
	AsOf      time.Time
	CountedAt int
	// Interval is how often the guard looks.
	Interval      time.Duration
	Stages        []Boxes // all of them, in order
	Organizations []Organization
	Silence       Silence
	Approved      []int   // the stages that were approved
	Freeze        *Freeze // or nil
}

// present is the boxes of the present stage.
func (e Evidence) present() Boxes {
	for _, b := range e.Stages {
		if b.Percent == e.Stage {
			return b
		}
	}
	return Boxes{Percent: e.Stage}
}

// next is the stage after the present one; 0 at the last.
func (e Evidence) next() int {
	for _, b := range e.Stages {
		if b.Percent > e.Stage {
			return b.Percent
		}
	}
	return 0
}

// totals are how many boxes of all stages were told the release, and how many of them are bad or undecided.
func (e Evidence) totals() (told, bad, undecided int) {
	for _, b := range e.Stages {
		told += b.told()
		bad += b.bad()
		undecided += b.undecided()
	}
	return told, bad, undecided
}

// look is which look at the present stage this one is at most, from 1.
func (e Evidence) look() int {
	every := max(e.Interval, time.Second)
	return 1 + int(max(e.AsOf.Sub(e.Since), 0)/every)
}
