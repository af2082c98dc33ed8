package progress

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/rollout"
)

// A Candidate is an active rollout. Begun is when its last count began, and Last is the last count. Both are empty if
// it was never counted.
type Candidate struct {
	rollout.Rollout
	Begun time.Time
	Last  *Progress
}

// lookIsDue reports whether the guard is to look at the silence of a stage. It does so only in ticks.
func (c Candidate) lookIsDue(now time.Time) bool {
	if c.Guarding == nil || c.StagedPercent == cohort.Stages[len(cohort.Stages)-1] {
		return false
	}
	return slices.ContainsFunc(cohort.Stages, func(percent int) bool {
		start, reached := c.Reached(percent)
		return reached && c.Guarding.Policy.Guard.Due(start, lastLook(c.lastGuard(), percent), now)
	})
}

func (c Candidate) lastGuard() *Judgement {
	if c.Last == nil {
		return nil
	}
	return c.Last.Guard
}

// Plan lists the rollouts that a tick counts, in order: those without a recent count or with a look at silence that is
// due, the one whose count began first before the others. The order goes by the beginning of counts. So a count that never ends in time does not keep the
// others waiting. A tick that comes twice finds nothing to do.
func Plan(active []Candidate, now time.Time, recent time.Duration) []Candidate {
	due := slices.DeleteFunc(slices.Clone(active), func(c Candidate) bool {
		age := now.Sub(c.Begun)
		return age >= 0 && age < recent && !c.lookIsDue(now)
	})
	slices.SortStableFunc(due, func(a, b Candidate) int {
		return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.ID, b.ID))
	})
	return due
}
