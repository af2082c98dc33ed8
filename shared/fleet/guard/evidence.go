package guard

import (
	"slices"
	"time"
)

// Counts counts boxes by their state with a release. Once the release reaches them, Expected equals the sum of the other counts.
type Counts struct {
	Expected int `json:"expected"`
	// NotYetPolled boxes are reached by the rollout and have not polled since.
	NotYetPolled int `json:"notYetPolled"`
	Offered      int `json:"offered"`
	Working      int `json:"working"`
	Deferred     int `json:"deferred"`
	Installed    int `json:"installed"`
	Failed       int `json:"failed"`
	Reverted     int `json:"reverted"`
}

// Plus adds the counts of two parts of a fleet.
func (n Counts) Plus(m Counts) Counts {
	return Counts{
		Expected: n.Expected + m.Expected, NotYetPolled: n.NotYetPolled + m.NotYetPolled,
		Offered: n.Offered + m.Offered, Working: n.Working + m.Working, Deferred: n.Deferred + m.Deferred,
		Installed: n.Installed + m.Installed, Failed: n.Failed + m.Failed, Reverted: n.Reverted + m.Reverted,
	}
}

func (n Counts) told() int {
	return n.Offered + n.Working + n.Deferred + n.Installed + n.Failed + n.Reverted
}

// StageBoxes are the boxes that a stage is the first to reach. Which ones these are is decided by a hash.
type StageBoxes struct {
	Percent int // of the stage
	// Start is when the release first reached the stage on its channel, in this rollout or an earlier one; zero: never.
	Start time.Time
	Counts
	// Bad boxes count against the release now. Retrying ones failed so recently that they may recover; the last of them counts
	// against the release from RetryUntil on.
	Bad, Retrying int
	RetryUntil    time.Time
	// Treated are boxes of the stage, and Control are boxes that the release never reached, both counted if seen since
	// Start. They are empty if nobody looked.
	Treated, Control Group
}

// undecided boxes may still turn out bad.
func (b StageBoxes) undecided() int { return b.Offered + b.Working }

// A Group counts the boxes of a random sample that were seen since a stage began. Silent ones were not seen for the
// policy's SilentAfter, Away ones not for half of a soak.
type Group struct {
	Boxes  int `json:"boxes"`
	Silent int `json:"silent"`
	Away   int `json:"away,omitempty"`
}

func (g Group) minus(h Group) Group {
	return Group{g.Boxes - h.Boxes, g.Silent - h.Silent, g.Away - h.Away}
}

// Plus is the sum of two groups.
func (g Group) Plus(h Group) Group {
	return Group{g.Boxes + h.Boxes, g.Silent + h.Silent, g.Away + h.Away}
}

// A Share is what some of the boxes contribute: those of an organization, a factory or another kind.
type Share struct {
	// Told boxes were told the release. Bad ones count against it.
	Told, Bad int
	// Decided is how many of Told have an outcome that is final, or are bad now.
	Decided int
	// Treated are boxes that the release reached and that were looked up, and Control those that it never reached.
	Treated, Control Group
}

// Plus is the sum of two shares.
func (s Share) Plus(t Share) Share {
	return Share{s.Told + t.Told, s.Bad + t.Bad, s.Decided + t.Decided, s.Treated.Plus(t.Treated), s.Control.Plus(t.Control)}
}

func (s Share) minus(t Share) Share {
	return Share{s.Told - t.Told, s.Bad - t.Bad, s.Decided - t.Decided, s.Treated.minus(t.Treated), s.Control.minus(t.Control)}
}

// An Organization is what its boxes contribute to each stage, in the order of the stages.
type Organization struct {
	ID    string
	Parts []Share
}

// total sums the parts of all stages.
func (o Organization) total() (sum Share) {
	for _, p := range o.Parts {
		sum = sum.Plus(p)
	}
	return sum
}

// A Freeze keeps every rollout at its stage until a time.
type Freeze struct {
	Until  time.Time
	Reason string
}

// Evidence is all that a verdict rests on, apart from the policy.
type Evidence struct {
	Active bool // the rollout is
	// Completed is set once the rollout was completed and everybody has the release. Nothing can be halted then, but the
	// guard still checks whether the release goes bad.
	Completed bool
	// Stage is the rollout's present stage in percent, and Since when it got there, or was last resumed.
	Stage int
	Since time.Time
	// Resumed is when a person last let the rollout go on; zero: never. Older looks do not halt it again. Stopped is set
	// while it tells no more boxes.
	Resumed time.Time
	Stopped bool
	// AsOf is when the boxes were counted; zero: never. CountedAt is the stage that the rollout had then.
	AsOf          time.Time
	CountedAt     int
	Stages        []StageBoxes // all of them, in order
	Organizations []Organization
	// Places are the factories and organizations, each with the boxes of all stages together.
	Places []Kind
	// Looks are the last looks at the stages. New is set if looks that are due are taken now.
	Looks []Look
	New   bool
	// Surveys are the last surveys of the stages. Kinds are those of all boxes; nil: nobody looked them up.
	Surveys []Survey
	Kinds   []Kind
	// Numbers are the last comparisons of health numbers. Workers are the boxes that are asked for them; nil: nobody looked them up.
	Numbers []Comparison
	Workers []Worker
	// Few is the last look at a fleet of fewer than 40 boxes, or one that is taken now; nil: none.
	Few *Few
	// Young is the last look at the boxes that were registered since the start, or one that is taken now if YoungNew is set.
	Young    *Young
	YoungNew bool
	// Newcomers are all such boxes.
	Newcomers Newcomers
	// Plants are those that a look sees now, or that the last one saw go down.
	Plants Plants
	// Mislabelled is how many of the boxes that run the release say so in words that are not known to be good.
	Mislabelled int
	// Vacant is set if the channel has no box in the present stage, not even one that does not count.
	Vacant bool
	// Taken is how the present stage's boxes took the release; nil if that was not looked up.
	Taken    *Taken
	Approved []int   // the stages that were approved
	Freeze   *Freeze // or nil
}

// at is the index of the present stage; -1 if there is no such stage.
func (e Evidence) at() int {
	return slices.IndexFunc(e.Stages, func(b StageBoxes) bool { return b.Percent == e.Stage })
}

// present is the boxes of the present stage.
func (e Evidence) present() StageBoxes {
	if i := e.at(); i >= 0 {
		return e.Stages[i]
	}
	return StageBoxes{Percent: e.Stage}
}

// Final reports whether the present stage is the last one.
func (e Evidence) Final() bool { return e.next() == 0 }

// next is the stage after the present one; 0 at the last.
func (e Evidence) next() int {
	for _, b := range e.Stages {
		if b.Percent > e.Stage {
			return b.Percent
		}
	}
	return 0
}

// fleet is the number of boxes in the channel.
func (e Evidence) fleet() (boxes int) {
	for _, b := range e.Stages {
		boxes += b.Expected
	}
	return boxes
}

// reaches reports whether the release reaches any box.
func (e Evidence) reaches() bool {
	return slices.ContainsFunc(e.Stages, func(b StageBoxes) bool { return b.Percent <= e.Stage && b.Expected > 0 })
}

// totals returns how many boxes of all stages were told the release, and how many of these are undecided.
func (e Evidence) totals() (told, undecided int) {
	for _, b := range e.Stages {
		told += b.told()
		undecided += b.undecided()
	}
	return told, undecided
}

// installed is how many boxes run the release.
func (e Evidence) installed() (boxes int) {
	for _, b := range e.Stages {
		boxes += b.Installed
	}
	return boxes
}

// Small reports whether the present stage has too few boxes for the test of failures, together with those before it.
func (e Evidence) Small(p Policy) bool {
	return decision{policy: p, evidence: e, test: p.Guard.test()}.isSmall()
}
