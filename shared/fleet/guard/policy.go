package guard

import (
	"encoding/json"
	"fmt"
	"time"

	"wavegate/shared/platform/calendar"
)

// A Mode says whether the guard acts.
type Mode string

// Modes.
const (
	Advise Mode = "advise" // it only says what it would do
	Act    Mode = "act"    // it halts and promotes
)

// A SmallFleet says what clears a stage that has too few boxes for the test.
type SmallFleet string

// Ways to clear a small stage.
const (
	AllDecided  SmallFleet = "allDecided"  // the soak, if chance explains its bad and silent boxes
	People      SmallFleet = "people"      // nothing: people promote
	PeopleIfFew SmallFleet = "peopleIfFew" // nothing in a fleet of fewer than 40 boxes, otherwise as allDecided
)

// An OnHalt is what the guard does with a halt besides halting. Empty is the same as stay.
type OnHalt string

// What the guard does with a halt.
const (
	Stay   OnHalt = "stay"   // boxes keep the release
	Return OnHalt = "return" // boxes are told the channel's version again
)

// A Policy is how the guard judges a rollout.
type Policy struct {
	Preset    string    `json:"preset,omitempty"` // fast, or empty
	Mode      Mode      `json:"mode"`
	Guard     Bounds    `json:"guard"`
	Promote   Promotion `json:"promote"`
	Approvals Approvals `json:"approvals"`
	OnHalt    OnHalt    `json:"onHalt,omitempty"` // Return, or empty
	// Health are the health numbers that the guard judges, by name.
	Health map[string]Number `json:"health,omitempty"`
}

// Bounds says which failures are acceptable, and when a stage is clear.
type Bounds struct {
	// Acceptable is the share of bad boxes that a release may have, and Intolerable the share that must not
	// pass; 0.01 is one percent.
	Acceptable  float64 `json:"acceptable"`
	Intolerable float64 `json:"intolerable"`
	// SilentAfter is how long a box must be unheard from to count as silent. All boxes of a stage get the release within
	// minutes, so a guard that notices bricks sooner saves none. One that mistakes a long installation for a brick halts
	// good releases. A stage soaks at least this long: no box of it can be silent before.
	SilentAfter Duration `json:"silentAfter"`
	// DecideWithin is how long a box may take to install the release. After that it counts against clearing the stage. A
	// stage soaks at least this long: slow failures come last.
	DecideWithin Duration `json:"decideWithin"`
	// Taken is the share of a stage's boxes that must have run the release for a soak before the rollout goes on. All
	// boxes of the stage count, apart from those that were off long before.
	Taken      float64    `json:"taken"`
	SmallFleet SmallFleet `json:"smallFleet"`
}

// Promotion says when the guard promotes.
type Promotion struct {
	Auto    bool             `json:"auto"`
	Soak    Soak             `json:"soak"`
	Windows calendar.Windows `json:"windows,omitempty"`
}

// Soak is the least time that a rollout stays at each stage.
type Soak struct {
	At1   Duration `json:"1"`
	At10  Duration `json:"10"`
	At50  Duration `json:"50"`
	At100 Duration `json:"100"`

	open bool // At10 was not given, and depends on the release; see For
}

// Approvals says which stages a second person must approve.
type Approvals struct {
	Before []int `json:"before,omitempty"`
}

// defaultTaken is the share if a policy does not set one.
const defaultTaken = 0.8

// The soaks of a policy that does not set them. A day covers a night in every factory. A week covers a weekend, so what
// shows within a week reaches the boxes of the first two stages only. A security release is not kept back that long.
var (
	day  = Lasting(24 * time.Hour)
	week = Lasting(7 * 24 * time.Hour)
)

var defaultSilence = Lasting(30 * time.Minute)

// Default is the policy of an empty object: the guard halts, and people promote.
func Default() Policy {
	return Policy{
		Mode: Act,
		Guard: Bounds{
			Acceptable: 0.01, Intolerable: 0.05,
			SilentAfter: defaultSilence, DecideWithin: Lasting(time.Hour),
			Taken: defaultTaken, SmallFleet: PeopleIfFew,
		},
		Promote: Promotion{Soak: Soak{At1: day, At10: week, At50: day, At100: day}},
	}
}

// For returns the policy as it applies to a release: the soak of stage 10 is filled in if it was not given.
func (p Policy) For(security bool) Policy {
	if p.Promote.Soak.open {
		p.Promote.Soak.open, p.Promote.Soak.At10 = false, week
		if security {
			p.Promote.Soak.At10 = day
		}
	}
	return p
}

// fast is the preset for what is urgent or for security: hours instead of days. What it cannot see stands in Policy.Fast. So that all
// boxes have the release within half a day, they must poll at least each fastPolls.
const (
	fast      = "fast"
	fastPolls = 15 * time.Minute
)

// hurried is the policy of that preset, before the fields that are given with it.
func (p Policy) hurried() Policy {
	p.Preset, p.Promote.Auto, p.Guard.DecideWithin = fast, true, defaultSilence
	p.Promote.Soak = Soak{At1: Lasting(2 * time.Hour), At10: Lasting(7 * time.Hour), At50: defaultSilence, At100: defaultSilence}
	return p
}

// Hurries reports whether the policy is only for what is urgent, or for security.
func (p Policy) Hurries() bool { return p.Preset == fast }

// TooSlow says why boxes that poll at an interval are too slow for the policy; empty if they are not.
func (p Policy) TooSlow(every time.Duration) string {
	if !p.Hurries() || every <= fastPolls {
		return ""
	}
	return fmt.Sprintf("must not be fast where boxes poll every %s: each stage would have to soak for %s, so give soaks of your own", Lasting(every), Lasting(p.Polled(every).SoakAt(100)))
}

// Fast returns what the policy cannot see in time because no early stage soaks for a week, in one sentence; empty if one
// does.
func (p Policy) Fast() string {
	if p.Hurries() {
		return "By the preset fast, all boxes have the release about 12 hours after the start. What shows within 90 minutes hurts at most 2 percent of them, " +
			"what shows within 8 hours at most 11, and what shows later hurts all."
	}
	soak := max(p.SoakAt(1), p.SoakAt(10))
	if soak >= week.Length() {
		return ""
	}
	return fmt.Sprintf("Stages 1 and 10 soak for at most %s instead of a week. What shows later, such as boxes that do not start after a weekend, can hurt all boxes.", Lasting(soak))
}

// SoakAt is the least time that the rollout stays at a stage.
func (p Policy) SoakAt(percent int) time.Duration {
	of := map[int]Duration{1: p.Promote.Soak.At1, 10: p.Promote.Soak.At10, 50: p.Promote.Soak.At50, 100: p.Promote.Soak.At100}
	return max(of[percent].Length(), p.Guard.DecideWithin.Length(), p.Guard.SilentAfter.Length())
}

// Polled returns the policy for a fleet whose boxes poll at an interval, by the deployment's settings. Boxes that poll
// rarely are silent once they have missed a poll, if that is later than the policy says. The interval must be the same for
// told and other boxes. A policy that waits for less than the default knows what it does, so often polled fleets keep it.
func (p Policy) Polled(every time.Duration) Policy {
	if missed := 2 * every; missed > defaultSilence.Length() {
		p.Guard.SilentAfter = Lasting(max(p.Guard.SilentAfter.Length(), missed))
	}
	return p
}

// test is Wald's test with these bounds.
func (b Bounds) test() Wald { return NewWald(b.Acceptable, b.Intolerable) }

// JSON returns the policy as Parse reads it, with every field.
func (p Policy) JSON() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // shares are finite
	}
	return text
}
