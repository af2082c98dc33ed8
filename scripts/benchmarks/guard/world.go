package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

// A world is a fleet, its plants, a release with its effects on boxes, and the policy of its rollout. See README.md
// for the file.
type world struct {
	Boxes, Plants, Organizations int
	Days                         int
	Start                        time.Time
	Dead, Dying, NeverInstalls   float64 // Dying die at some time of the world, whatever they run
	DeadDays                     int     // how long before the start the Dead boxes died
	Growth                       float64 // boxes that are registered some days after the start, as a share of Boxes
	Reimaged                     float64 // boxes to which people write the old version anew, with other attributes
	Pinned                       float64 // before the rollout starts
	PinFailed                    bool    // a box that failed is pinned some minutes later
	Behind                       float64 // of the boxes that are before all stones of the release
	Stones                       int     // that the release requires, one after the other
	ActivePoll, IdlePoll         time.Duration
	Bell                         bool
	InstallLeast, InstallMost    time.Duration
	Dark                         []dark
	AlwaysOn                     float64 // of the boxes, whatever their plants do
	Full                         *full   // nil: the service answers every call
	Attributes                   []attribute
	Release                      []effect
	Policy                       guard.Policy
	Updates                      *updates // nil: all plants take updates always
	release.Urgency                       // of the release
	Urgent                       bool     // the rollout passes by windows and pauses
	Return                       *goingBack
	Cycles                       *cycles // nil: boxes say nothing about their work
	Groups                       []grouping
	CountEvery                   time.Duration // of the boxes
}

// A dark is a time at which a share of the plants is switched off. Its days are those on which it begins.
type dark struct {
	Plants   float64
	From, To time.Duration // of the day; To is after From, on the next day if necessary
	Days     [7]bool       // from Sunday on
}

// A full is a time at which the service refuses a share of the polls, those of all boxes alike: the door is full.
type full struct {
	Calls float64
	spans spans
}

// refuses reports whether the service refuses the poll that a box makes at a time.
func (f *full) refuses(b *box, t time.Duration) bool {
	if f == nil {
		return false
	}
	if _, now := f.spans.at(t); !now {
		return false
	}
	drawn := rand.New(rand.NewPCG(uint64(b.first), uint64(t))) // the same whenever it is asked
	return drawn.Float64() < f.Calls
}

// An attribute of boxes has so many values that are equally frequent, or values with shares; the other boxes have none.
type attribute struct {
	Name   string
	Values int
	Shares map[string]float64
}

// value draws a box's value; it is empty if the box has none.
func (a attribute) value(random *rand.Rand) string {
	if a.Values > 0 {
		return fmt.Sprintf("value-%d", random.IntN(a.Values))
	}
	drawn := random.Float64()
	for _, value := range slices.Sorted(maps.Keys(a.Shares)) {
		if drawn -= a.Shares[value]; drawn < 0 {
			return value
		}
	}
	return ""
}

// longest is the longest time after which the release does something.
func (w world) longest() (last time.Duration) {
	for _, e := range w.Release {
		last = max(last, e.After, e.Until)
	}
	return last
}

// The kinds of effects on a box.
const (
	fails   = "fail"
	bricks  = "brick"
	reverts = "revert"
	defers  = "defer"
	cuts    = "cut"
)

// An effect of the release on a share of the boxes, or of those of a kind, each drawn independently.
type effect struct {
	Share float64
	Kind  string // name=value, or several of these with & between them; also factory and organization
	Stone int    // that it happens on, from 1 on; 0: on the release
	Does  string
	Code  report.FailureCode
	// After is how long after the installation it happens, or after being told for defers; up to Until, if that is set.
	After, Until time.Duration
	PowerUps     int // it happens when the box's plant is switched on for this time; 0: whatever its plant does
	Every        time.Duration
	For          time.Duration // of a deferral; 0: forever
	// Clustered is the share of the plants that have all such boxes; 0: all plants.
	Clustered float64
	// Attempts is the number of attempts that fail; the next one works. 0: all fail.
	Attempts int
}
