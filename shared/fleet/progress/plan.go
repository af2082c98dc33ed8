package progress

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/fleet/rollout"
)

// recent is how old a rollout's last count is at least when a tick counts again. It is less than the
// tick's minute, so that a tick which comes a little early does not leave a minute out.
const recent = 30 * time.Second

// A Candidate is an active rollout and when a count of it was last begun; zero: never.
type Candidate struct {
	rollout.Rollout
	Begun time.Time
}

// Plan is the rollouts that a tick counts, in order. Those whose last count was begun longest ago come
// first. It goes by the beginning, so that a count which never ends in time cannot keep the others from
// their turn. A tick that comes twice finds nothing to do.
func Plan(active []Candidate, now time.Time) []Candidate {
	due := slices.DeleteFunc(slices.Clone(active), func(c Candidate) bool {
		age := now.Sub(c.Begun)
		return age >= 0 && age < recent
	})
	slices.SortStableFunc(due, func(a, b Candidate) int {
		return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.ID, b.ID))
	})
	return due
}
