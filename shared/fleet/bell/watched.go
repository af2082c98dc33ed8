package bell

import (
	"math/bits"
	"time"

	"wavegate/shared/fleet/report"
)

// SampleSize is the most boxes of a group whose last poll the guard looks up. They are those with the least places
// (report.Place).
const SampleSize = 1000

// margin is by how many more boxes than a sample needs are watched, in percent. Of places that are drawn at random, the
// sample then lies among the watched but for one in a hundred million.
const margin = 20

// Sizes are how many boxes each stage of a rollout has, by its percentage. A stage without a size was not counted yet.
type Sizes map[int]int

// Watched reports whether a box polls often although its bell is silent, since the guard's samples may hold it. percent
// is the first stage that reaches the box. Before the first count all boxes are watched. Which boxes are watched does not
// depend on what they were told: both groups that the guard compares poll at one interval.
func (s Sizes) Watched(edgeID string, percent int) bool {
	size, counted := s[percent]
	return !counted || watched(edgeID, size)
}

// watched goes by a size of which only the first four binary digits count. So boxes that join or leave the channel hardly
// ever change who is watched.
func watched(edgeID string, size int) bool {
	if rest := bits.Len(uint(max(size, 0))) - 4; rest > 0 {
		size = size >> rest << rest
	}
	return uint64(report.Place(edgeID))*uint64(max(size, 0)) < (SampleSize*(100+margin)/100)<<32
}

// AfterEnd is how long boxes stay watched after a rollout ended. The guard goes on looking at a completed one for a soak.
// If that is longer, it looks for boxes that were unseen for more than half of it, which is longer than a heartbeat.
func AfterEnd(heartbeat time.Duration) time.Duration { return max(24*time.Hour, 3*heartbeat) }
