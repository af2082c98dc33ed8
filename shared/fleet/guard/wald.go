package guard

import (
	"math"
	"sort"

	"wavegate/shared/fleet/stats"
)

// The error rates of a whole rollout.
const (
	// Alpha limits how often a release of acceptable quality is halted for its failures, and how often for its silence.
	Alpha = 0.01
	// Beta limits how often Wald's test passes a release of intolerable quality.
	Beta = 0.05
)

// Half of Alpha is for Wald's tests of failures: of each stage and of all told boxes. The other half is for the four
// tests at the end of the soaks.
const (
	waldLevel = Alpha / 10
	lastLevel = Alpha / 8
)

// A Wald is Wald's sequential probability ratio test of whether a share of boxes is acceptable or intolerable. It only
// needs the numbers of bad and other boxes.
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

// Limits of Wald's test.
var (
	// HaltAt halts by failures.
	HaltAt = math.Log((1 - Beta) / waldLevel)
	// silentAt halts by silence, together with Fisher's test.
	silentAt = math.Log((1 - Beta) / Alpha)
	// clearAt determines how many boxes the test needs.
	clearAt = math.Log(Beta / (1 - Alpha))
)

// Likelihood is the log of the likelihood ratio of the intolerable share to the acceptable one, given bad boxes among
// n.
func (w Wald) Likelihood(bad, n int) float64 { return float64(bad)*w.hit + float64(n-bad)*w.miss }

// Halts reports whether the boxes indicate the intolerable share, at any look.
func (w Wald) Halts(bad, n int) bool { return w.Likelihood(bad, n) >= HaltAt }

// Needs is how many boxes without a failure clear a release. With fewer there is no test.
func (w Wald) Needs() int { return least(func(n int) bool { return w.Likelihood(0, n) <= clearAt }) }

// lastHalts reports whether the boxes indicate the intolerable share at the end of a soak, when no further look
// follows.
func (b Bounds) lastHalts(bad, n int) bool {
	return b.test().Likelihood(bad, n) > 0 && stats.AtLeast(bad, n, b.Acceptable) <= lastLevel
}

// boundless is greater than any number of boxes. A search that returns it has found nothing.
const boundless = 1 << 40

// least is the smallest number, from 0, that meets a condition. Every greater number must meet it, too. It is boundless
// if there is none.
func least(holds func(int) bool) int { return sort.Search(boundless, holds) }
