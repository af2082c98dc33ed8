package census

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/fleet/rollout"
)

// A Candidate is a rollout that a tick may count. Begun is when its last count began, and Last is the last count. Both are
// empty if it was never counted.
type Candidate struct {
	rollout.Rollout
	Begun time.Time
	Last  *Progress
}

// Plan lists the rollouts that a tick counts, in order: those without a recent count, ordered by when their last count
// was no longer recent. So a count that never ends in time does not keep the others waiting. A repeated tick finds nothing to do.
func Plan(all []Candidate, now time.Time, recent time.Duration) []Candidate {
	due := slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool {
		age := now.Sub(c.Begun)
		return age >= 0 && age < c.recent(recent)
	})
	slices.SortStableFunc(due, func(a, b Candidate) int {
		return cmp.Or(a.Begun.Add(a.recent(recent)).Compare(b.Begun.Add(b.recent(recent))), cmp.Compare(a.ID, b.ID))
	})
	return due
}

// recent is the age below which the rollout's count is not repeated, given that of active rollouts.
func (c Candidate) recent(active time.Duration) time.Duration {
	if c.Status == rollout.Completed {
		return watchAge
	}
	return active
}
