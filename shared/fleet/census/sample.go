package census

import (
	"cmp"
	"slices"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/report"
)

// SampleSize is the maximum number of last polls that a tick looks up for a group. Boxes that may be in a sample poll
// often; see bell.Sizes.
const SampleSize = bell.SampleSize

// A Sample is a number of boxes and, if there are more than SampleSize, a random choice of them: those with the
// smallest hashes. A chosen box stays chosen while the others are the same, so a sample does not change from minute to
// minute.
type Sample struct {
	Boxes  int
	chosen []report.IndexEntry
	most   string // the greatest hash of a full choice
}

// Add adds a box.
func (s *Sample) Add(e report.IndexEntry) {
	s.Boxes++
	if s.most != "" && e.Hash > s.most {
		return
	}
	s.chosen = append(s.chosen, e)
	if n := len(s.chosen); n >= 2*SampleSize || n == SampleSize && s.most == "" {
		s.cut()
	}
}

// Merge adds the boxes of another sample.
func (s *Sample) Merge(other Sample) {
	s.Boxes += other.Boxes
	s.chosen = append(s.chosen, other.chosen...)
	s.cut()
}

// Chosen are the boxes of the sample, in the order of their hashes.
func (s *Sample) Chosen() []report.IndexEntry {
	s.cut()
	return slices.Clone(s.chosen)
}

func (s *Sample) cut() {
	slices.SortFunc(s.chosen, func(a, b report.IndexEntry) int {
		return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.EdgeID, b.EdgeID))
	})
	if len(s.chosen) >= SampleSize {
		s.chosen = s.chosen[:SampleSize]
		s.most = s.chosen[SampleSize-1].Hash
	}
}
