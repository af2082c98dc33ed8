package progress

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/fleet/rollout"
)

// A Candidate is an active rollout, when a count of it was last begun, zero: never, and what was counted last, nil:
// nothing.
type Candidate struct {
	rollout.Rollout
	Begun time.Time
	Last  *Progress
}

// Plan is the rollouts that a tick counts, in order: those whose last count is not recent, the one that was begun
// longest ago first. It goes by the beginning, so that a count which never ends in time cannot keep the others from
// their turn. A tick that comes twice finds nothing to do.
func Plan(active []Candidate, now time.Time, recent time.Duration) []Candidate {
	due := slices.DeleteFunc(slices.Clone(active), func(c Candidate) bool {
		age := now.Sub(c.Begun)
		return age >= 0 && age < recent
	})
	slices.SortStableFunc(due, func(a, b Candidate) int {
		return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.ID, b.ID))
	})
	return due
}
