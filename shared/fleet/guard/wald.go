package guard

import (
	"math"
	"sort"
)

// The error rates of a whole rollout.
const (
	// Alpha is how often a release of acceptable quality is halted, at most.
	Alpha = 0.01
	// Beta is how often an intolerable release is cleared, at most.
	Beta = 0.05
)

// A Wald is Wald's sequential probability ratio test of whether a share of boxes is acceptable or
// intolerable. It needs nothing but how many boxes were bad and how many were not.
type Wald struct {
	hit, miss float64 // what a bad box and any other one add
}

// NewWald makes the test of two shares, 0 < acceptable < intolerable < 1.
func NewWald(acceptable, intolerable float64) Wald {
	return Wald{
		hit:  math.Log(intolerable / acceptable),
		miss: math.Log1p(-intolerable) - math.Log1p(-acceptable),
	}
}

// Wald's limits for Alpha and Beta.
var (
	HaltAt  = math.Log((1 - Beta) / Alpha)
	ClearAt = math.Log(Beta / (1 - Alpha))
)

// Likelihood is the logarithm of how much more likely bad boxes among n are if the share is intolerable.
func (w Wald) Likelihood(bad, n int) float64 { return float64(bad)*w.hit + float64(n-bad)*w.miss }

// Halts tells whether the boxes speak for the intolerable share.
func (w Wald) Halts(bad, n int) bool { return w.Likelihood(bad, n) >= HaltAt }

// Clears tells whether the boxes speak for the acceptable share.
func (w Wald) Clears(bad, n int) bool { return w.Likelihood(bad, n) <= ClearAt }

// Needs is how many boxes clear if none is bad.
func (w Wald) Needs() int { return least(func(n int) bool { return w.Clears(0, n) }) }

// boundless is more than any number of boxes. A search that returns it has found nothing.
const boundless = 1 << 40

// least is the smallest number, from 0, that meets a condition. Every greater number must meet it, too. It is boundless
// if there is none.
func least(holds func(int) bool) int { return sort.Search(boundless, holds) }
