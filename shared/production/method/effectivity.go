package method

import (
	"slices"
	"time"
)

// A Decision says that a version holds from a time on: on some machines, as a trial, or on all.
type Decision struct {
	Version       int64     `json:"version" stored:"identity"`
	ContentSHA256 string    `json:"contentSha256"`
	From          time.Time `json:"from"`
	Machines      []string  `json:"machines,omitempty"` // none means all machines
	// ApprovedAt is the last approval of the decision; see Cover.
	ApprovedAt time.Time `json:"approvedAt"`
}

func (d Decision) covers(machine string) bool {
	return d.everywhere() || slices.Contains(d.Machines, machine)
}

func (d Decision) everywhere() bool { return len(d.Machines) == 0 }

// An Effectivity is the list of decisions that still count, the latest last.
//
// On a machine at a time, the last decision in the list wins among those that have begun and cover the machine. Their
// dates do not matter. So at most one version holds on a machine at any time. The list also shows which decision was
// superseded and when, so no scheduled job is needed.
type Effectivity []Decision

// maxDecisions limits the list after Prune.
const maxDecisions = 16

// At returns the decision that holds on a machine at a time. It is only correct for times after
// the list's last change, because older decisions are pruned.
func (e Effectivity) At(machine string, t time.Time) (Decision, bool) {
	for _, d := range slices.Backward(e) {
		if d.covers(machine) && !t.Before(d.From) {
			return d, true
		}
	}
	return Decision{}, false
}

// Next returns the first decision that takes over on a machine after a time.
func (e Effectivity) Next(machine string, t time.Time) (Decision, bool) {
	var next Decision
	for _, d := range e {
		if !t.Before(d.From) || next.Version > 0 && !d.From.Before(next.From) {
			continue
		}
		if held, ok := e.At(machine, d.From); ok && held.Version != e.versionAt(machine, t) {
			next = held
		}
	}
	return next, next.Version > 0
}

func (e Effectivity) versionAt(machine string, t time.Time) int64 {
	d, _ := e.At(machine, t)
	return d.Version
}

// Prune removes all that can no longer hold from a time on, because a later decision that has begun covers it. It
// removes whole decisions, and single machines of a trial. Superseded decisions are removed permanently; a withdrawal
// does not restore them.
func (e Effectivity) Prune(now time.Time) Effectivity {
	var kept Effectivity
	for i, d := range e {
		begins := d.From
		if begins.Before(now) {
			begins = now
		}
		left := slices.Clone(d.Machines)
		superseded := false
		for _, later := range e[i+1:] {
			switch {
			case later.From.After(begins):
			case later.everywhere():
				superseded = true
			default:
				left = slices.DeleteFunc(left, later.covers)
			}
		}
		if superseded || !d.everywhere() && len(left) == 0 {
			continue
		}
		d.Machines = left
		kept = append(kept, d)
	}
	return kept
}

// without removes a version from the list. It prunes first, so nothing that the version
// superseded is restored. After the withdrawal of a trial, the released version holds again on
// its machines. After the withdrawal of a released version, nothing holds.
func (e Effectivity) without(version int64, now time.Time) Effectivity {
	var left Effectivity // nil if nothing is left; an empty list would be stored, but never shown
	for _, d := range e.Prune(now) {
		if d.Version != version {
			left = append(left, d)
		}
	}
	return left
}

// with returns the list with a decision. It replaces the version's earlier decision of the same kind.
func (e Effectivity) with(d Decision, at time.Time) Effectivity {
	e = slices.DeleteFunc(e.Prune(at), func(one Decision) bool { return one.Version == d.Version && one.everywhere() == d.everywhere() })
	return append(e, d).Prune(at)
}

// of returns the decision that puts a version on trial or, for Released, on all machines.
func (e Effectivity) of(version int64, kind Status) (Decision, bool) {
	for _, d := range slices.Backward(e) {
		if d.Version == version && d.everywhere() == (kind == Released) {
			return d, true
		}
	}
	return Decision{}, false
}

// everywhereAt returns the version that holds on all machines without a trial, or 0.
func (e Effectivity) everywhereAt(t time.Time) int64 {
	for _, d := range slices.Backward(e) {
		if d.everywhere() && !t.Before(d.From) {
			return d.Version
		}
	}
	return 0
}

// newer returns a version with a higher number that is released to all machines, now or later, or 0.
func (e Effectivity) newer(version int64) int64 {
	for _, d := range e {
		if d.everywhere() && d.Version > version {
			return d.Version
		}
	}
	return 0
}
