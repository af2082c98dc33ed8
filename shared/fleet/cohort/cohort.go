// Package cohort decides which boxes a staged rollout reaches. The rule is arithmetic on names. It needs no store and
// no clock, so the result is always the same, whoever computes it. testdata/vectors.csv fixes it forever. README.md
// gives the formula for other languages.
package cohort

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Stages are the shares of the fleet, in percent, that a rollout is raised along.
var Stages = []int{1, 10, 50, 100}

// After returns the stage after a percentage; 0 after the last.
func After(percent int) int {
	if i := slices.IndexFunc(Stages, func(s int) bool { return s > percent }); i >= 0 {
		return Stages[i]
	}
	return 0
}

// FirstStage is the first stage, in percent, at which a rollout of the version reaches the box.
func FirstStage(edgeType, version, edgeID string) int {
	b := Of(edgeType, version, edgeID)
	return Stages[slices.IndexFunc(Stages, b.In)] // the last one reaches everyone
}

// A Bucket is a box's position in the order in which a version reaches the boxes of an edge type. Lower buckets come
// first. The bucket is the same on every channel and in every rollout of that version. So a rollout that is halted and
// started again reaches the same boxes first. Each version has its own order, so that no box is always first.
type Bucket uint64

// Of is the bucket of a box for a version: the first 8 bytes, big-endian, of the SHA-256 of
// edgeType/version/edgeId in UTF-8. None of the three can hold a slash.
func Of(edgeType, version, edgeID string) Bucket {
	sum := sha256.Sum256([]byte(edgeType + "/" + version + "/" + edgeID))
	return Bucket(binary.BigEndian.Uint64(sum[:8]))
}

// Percentile is the hundredth of the order that holds the bucket, from 0 to 99: the high word of the 128-bit product
// with 100. It is exact, unlike a division of floats or a remainder.
func (b Bucket) Percentile() int {
	high, _ := bits.Mul64(uint64(b), 100)
	return int(high)
}

// In reports whether a rollout at stagedPercent, from 0 to 100, reaches the bucket. A bucket that is reached at one
// percentage is reached at every higher one; 100 reaches everyone.
func (b Bucket) In(stagedPercent int) bool { return b.Percentile() < stagedPercent }
