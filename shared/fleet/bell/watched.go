package bell

import (
	"math/bits"
	"time"

	"wavegate/shared/fleet/report"
)

// SampleSize is the maximum number of last polls that the guard looks up for a group: those of the boxes with the
// smallest places (report.Place).
const SampleSize = 1000

// AskedSize is the maximum number of boxes that are asked for health numbers, of those that the release has reached and of
// the others: those with the smallest places.
const AskedSize = 6000

// margin is how many more boxes than a sample needs are watched or asked, in percent. As places are random, the sample then lies
// within the watched boxes in all but one case in a hundred million.
const margin = 20

// Sizes holds how many boxes each stage of a rollout has, by its percentage. A stage without a size has not been
// counted.
type Sizes map[int]int

// Watched reports whether a box polls often although its bell is silent, because the guard's samples may hold it.
// percent is the first stage that reaches the box. Before the first count all boxes are watched. Which boxes are
// watched does not depend on what they were told, so both groups that the guard compares poll at the same interval.
func (s Sizes) Watched(edgeID string, percent int) bool { return s.among(SampleSize, edgeID, percent) }

// Asked reports whether a box is asked for health numbers. Most such boxes say them with the polls that they make anyway.
func (s Sizes) Asked(edgeID string, percent int) bool { return s.among(AskedSize, edgeID, percent) }

// among uses only the first four binary digits of the stage's size. So boxes that join or leave the channel rarely change
// who is watched or asked.
func (s Sizes) among(most int, edgeID string, percent int) bool {
	size, counted := s[percent]
	if !counted {
		return true
	}
	if rest := bits.Len(uint(max(size, 0))) - 4; rest > 0 {
		size = size >> rest << rest
	}
	return uint64(report.Place(edgeID))*uint64(max(size, 0)) < uint64(most*(100+margin)/100)<<32
}

// Busy is how long after a change to an active rollout the boxes of its channel poll often.
const Busy = 24 * time.Hour

// AfterEnd is how long boxes stay watched after a rollout ended. The guard keeps checking a completed one for a soak.
// If that is longer, it looks for boxes that were unseen for more than half of it, which is longer than a heartbeat.
func AfterEnd(heartbeat time.Duration) time.Duration { return max(24*time.Hour, 3*heartbeat) }
