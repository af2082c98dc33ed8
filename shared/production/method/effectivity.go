package method

import (
	"slices"
	"time"
)

// A Decision says that a version holds from a time on: on some machines, which is a trial, or on all.
type Decision struct {
	Version       int64     `json:"version"`
	ContentSHA256 string    `json:"contentSha256"`
	From          time.Time `json:"from"`
	Machines      []string  `json:"machines,omitempty"` // none: all machines
	// Equipment is that of the version's steps, so that a poll need not read the version.
	Equipment Equipment `json:"equipment"`
}

// covers tells whether the decision is about a machine.
func (d Decision) covers(machine string) bool {
	return d.everywhere() || slices.Contains(d.Machines, machine)
}

func (d Decision) everywhere() bool { return len(d.Machines) == 0 }

// An Effectivity is the list of decisions that count from now on, the latest last.
//
// On a machine, at a time, the latest decision holds that has begun and covers the machine, whatever the
// dates of the others. So at most one version holds on a machine at any instant. Which decision was
// superseded, and when, follows from the list; no job runs at midnight.
type Effectivity []Decision

// maxDecisions bounds the list after what no longer counts was taken out.
const maxDecisions = 16

// At returns the decision that holds on a machine at a time. It is right for times from the list's last
// change on: what counted before only is no longer there.
func (e Effectivity) At(machine string, t time.Time) (Decision, bool) {
	for _, d := range slices.Backward(e) {
		if d.covers(machine) && !t.Before(d.From) {
			return d, true
		}
	}
	return Decision{}, false
}

// Next returns the decision that takes over on a machine after a time, the first to do so.
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

// Prune takes out what cannot hold any more from a time on, since a later decision has begun by then and
// covers it: whole decisions, and single machines of a trial. What is superseded is gone for good: a
// withdrawal does not bring it back.
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

// withdraw takes a version out of the list. What it superseded is pruned first, so it does not come back: on
// the machines of a trial the released version holds again, and in the place of a released version
// nothing does. Where the version held on all machines, another can be put in its place, before the
// trials that were decided later.
func (e Effectivity) withdraw(version int64, instead *Decision, now time.Time) Effectivity {
	e = e.Prune(now)
	var left Effectivity // nil where nothing is left: an empty list is stored as one, and no read shows it
	if instead != nil && e.everywhereAt(now) == version {
		left = append(left, *instead)
	}
	for _, d := range e {
		if d.Version != version {
			left = append(left, d)
		}
	}
	return left
}

// everywhereAt is the version that holds on all machines that are not on trial, or 0.
func (e Effectivity) everywhereAt(t time.Time) int64 {
	for _, d := range slices.Backward(e) {
		if d.everywhere() && !t.Before(d.From) {
			return d.Version
		}
	}
	return 0
}

// tries tells whether a version is on trial on machines by a time, by decisions that count.
func (e Effectivity) tries(version int64, machines []string, from time.Time) bool {
	return !slices.ContainsFunc(machines, func(machine string) bool {
		return !slices.ContainsFunc(e, func(d Decision) bool {
			return d.Version == version && !d.everywhere() && d.covers(machine) && !d.From.After(from)
		})
	})
}

// newer is a version above another that is released to all machines, now or later, or 0.
func (e Effectivity) newer(version int64) int64 {
	for _, d := range e {
		if d.everywhere() && d.Version > version {
			return d.Version
		}
	}
	return 0
}
