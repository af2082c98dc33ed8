package release

import (
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
)

// A Young restricts whom a rollout tells of the boxes that were registered since its start: nobody has judged the release on such
// boxes, and a new hardware revision may be among them. They come one stage behind the others, by the same hash.
type Young struct {
	// NewBoxes is OfTarget if manufacture flashes the target: then such boxes are told it at once, at every stage.
	NewBoxes string `json:"newBoxes,omitempty"`
	// YoungAt are the guard's promotions, and what else brought such boxes a stage further; nil: they are told as the others are. A
	// box is told at 1 percent from the first of these on that follows its registration, then at 10, 50 and 100.
	YoungAt []time.Time `json:"youngAt,omitempty"`
	// YoungStopped are organizations of which no more such boxes are told, because some were harmed. Of two, nobody's are.
	YoungStopped []string `json:"youngStopped,omitempty"`
}

// OfTarget is what NewBoxes may be.
const OfTarget = "target"

// StopsYoung reports whether no more such boxes of an organization are told.
func (y Young) StopsYoung(organizationID string) bool {
	return len(y.YoungStopped) >= 2 || slices.Contains(y.YoungStopped, organizationID)
}

// percent is the stage of a young box.
func (y Young) percent(organizationID string, registered time.Time) int {
	if y.StopsYoung(organizationID) {
		return 0
	}
	steps := 0
	for _, at := range y.YoungAt {
		if !registered.After(at) {
			steps++
		}
	}
	if len(y.YoungAt) == 0 || steps > len(cohort.Stages) {
		steps = len(cohort.Stages)
	}
	return append([]int{0}, cohort.Stages...)[steps]
}

// Further returns it after a step.
func (y Young) Further(at time.Time) Young {
	y.YoungAt = append(slices.Clone(y.YoungAt), at)
	return y
}

// Beside returns it after a step of the guard, at a percentage. What people promoted before reached such boxes as it did others,
// and stays so.
func (y Young) Beside(percent int, at time.Time) Young {
	if len(y.YoungAt) == 0 {
		for range slices.Index(cohort.Stages, percent) {
			y = y.Further(at)
		}
	}
	return y.Further(at)
}

// StopFor returns it once no more boxes of some organizations are told.
func (y Young) StopFor(organizations []string) Young {
	y.YoungStopped = slices.Compact(slices.Sorted(slices.Values(slices.Concat(y.YoungStopped, organizations))))
	return y
}

// Reaches reports whether the rollout reaches a box, which was registered at a time in whole seconds, and was told before or not.
func (c Carried) Reaches(edgeType, edgeID, organizationID string, registered time.Time, told bool) bool {
	percent, young := c.StagedPercent, registered.After(c.StartedAt)
	switch {
	case young && c.NewBoxes == OfTarget && (told || c.percent(organizationID, c.StartedAt) > 0):
		return true
	case young && !told:
		percent = min(percent, c.percent(organizationID, registered))
	}
	return cohort.Of(edgeType, c.TargetVersion, edgeID).In(percent)
}
