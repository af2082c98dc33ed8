package stats_test

import (
	"math"
	"math/bits"
	"testing"

	"wavegate/shared/fleet/stats"
)

// exact is the probability that k of the scores of each stratum, drawn by lot, add up to at least a sum: it tries all choices.
func exact(strata [][]float64, k []int, sum float64) float64 {
	sums := []float64{0}
	for i, scores := range strata {
		var next []float64
		for chosen := range uint(1) << len(scores) {
			if bits.OnesCount(chosen) != k[i] {
				continue
			}
			of := 0.0
			for j, s := range scores {
				if chosen&(1<<j) != 0 {
					of += s
				}
			}
			for _, before := range sums {
				next = append(next, before+of)
			}
		}
		sums = next
	}
	hits := 0
	for _, s := range sums {
		if s >= sum-1e-9 {
			hits++
		}
	}
	return float64(hits) / float64(len(sums))
}

func TestLot_AtLeast_IsCloseToTryingAllChoices(t *testing.T) {
	ranks := func(n int) (list []float64) {
		for i := range n {
			list = append(list, float64(i+1))
		}
		return list
	}
	skewed, among := []float64{0, 0, 1, 1, 1, 2, 2, 3, 5, 6, 8, 11}, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		strata [][]float64
		k      []int
	}{
		"half of one":            {[][]float64{ranks(14)}, []int{7}},
		"few of one":             {[][]float64{ranks(16)}, []int{3}},
		"most of one":            {[][]float64{ranks(16)}, []int{13}},
		"few, of skewed scores":  {[][]float64{skewed}, []int{4}},
		"most, of skewed scores": {[][]float64{skewed}, []int{8}},
		"of two":                 {[][]float64{ranks(9), skewed}, []int{3, 4}},
		"a count":                {[][]float64{among}, []int{6}},
	} {
		t.Run(name, func(t *testing.T) {
			var l stats.Lot
			for i, scores := range c.strata {
				l.Draw(scores, c.k[i])
			}
			least, most := math.Inf(1), 0.0
			for sum := 0.0; sum < 140; sum++ {
				want := exact(c.strata, c.k, sum)
				if want < 0.002 || want > 0.9 {
					continue
				}
				ratio := l.AtLeast(sum-0.5) / want
				least, most = min(least, ratio), max(most, ratio)
			}
			if least < 0.6 || most > 4 { // it may say that chance explains more
				t.Errorf("off by factors of %.2f to %.2f", least, most)
			}
		})
	}
}

// TestLot_AtLeast_OfManyScores against probabilities of the chi-squared and the normal distribution, from tables.
func TestLot_AtLeast_KnownValues(t *testing.T) {
	var none stats.Lot
	if p := none.AtLeast(0); p != 1 {
		t.Errorf("without scores: %g", p)
	}
	none.Draw([]float64{1, 1, 1}, 2)
	if p := none.AtLeast(2); p != 1 {
		t.Errorf("equal scores: %g", p)
	}
	var l stats.Lot // half of the ranks 1 to 4000: symmetric, so normal
	ranks := make([]float64, 4000)
	for i := range ranks {
		ranks[i] = float64(i + 1)
	}
	l.Draw(ranks, 2000)
	mean, deviation := 2000*2000.5, math.Sqrt(2000*2000*4001/12.0)
	for z, want := range map[float64]float64{0: 0.5, 1.6448536: 0.05, 3.0902323: 0.001, 4.2648908: 1e-5} {
		if got := l.AtLeast(mean + z*deviation); math.Abs(got/want-1) > 0.01 {
			t.Errorf("%g deviations: %g, want %g", z, got, want)
		}
	}
}
