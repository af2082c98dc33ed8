package census

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/fleet/rollout"
)

// A Candidate is an active rollout. Begun is when its last count began, and Last is the last count. Both are empty if
// it was never counted.
type Candidate struct {
	rollout.Rollout
	Begun time.Time
	Last  *Progress
}

// Plan lists the rollouts that a tick counts, in order: those without a recent count, ordered by when their last count
// began. So a count that never ends in time does not keep the others waiting. A repeated tick finds nothing to do.
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
