package stats_test

import (
	"math"
	"math/bits"
	"testing"

	"wavegate/shared/fleet/stats"
	"wavegate/shared/testing/expect"
)

// TestBounds_AreThoseOfClopperAndPearson compares with published quantiles of the beta distribution: the bounds for 3
// of 20, and the rule of three.
func TestBounds_AreThoseOfClopperAndPearson(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 5e-5 }
	if low, high := stats.Lower(3, 20, 0.025), stats.Upper(3, 20, 0.025); !near(low, 0.0321) || !near(high, 0.3789) {
		t.Errorf("3 of 20: %.4f to %.4f, want 0.0321 to 0.3789", low, high)
	}
	if high := stats.Upper(0, 100, 0.05); !near(high, 1-math.Pow(0.05, 0.01)) {
		t.Errorf("0 of 100: up to %.4f", high)
	}
	if low, high := stats.Lower(0, 0, 0.025), stats.Upper(0, 0, 0.025); low != 0 || high != 1 {
		t.Errorf("nothing drawn: %g to %g", low, high)
	}
	if low, high := stats.Lower(7, 7, 0.025), stats.Upper(7, 7, 0.025); !near(low, math.Pow(0.025, 1.0/7)) || high != 1 {
		t.Errorf("7 of 7: %.4f to %.4f", low, high)
	}
}

// TestAtLeast_IsTheSumOfItsTerms draws one box after the other.
func TestAtLeast_IsTheSumOfItsTerms(t *testing.T) {
	for _, p := range []float64{0.01, 0.2, 0.5, 0.97} {
		exactly := []float64{1} // by hits
		for n := 1; n <= 30; n++ {
			exactly = append(exactly, 0)
			for k := n; k > 0; k-- {
				exactly[k] = exactly[k]*(1-p) + exactly[k-1]*p
			}
			exactly[0] *= 1 - p
			want := 0.0
			for k := n; k >= 0; k-- {
				want += exactly[k]
				got := stats.AtLeast(k, n, p)
				expect.That(t, math.Abs(got-want) < 1e-12, "%d of %d, each with %g: %g, want %g", k, n, p, got, want)
			}
		}
	}
}

// TestFisher_CountsTheWaysToDeal compares the test with all ways to choose which boxes have the release.
func TestFisher_CountsTheWaysToDeal(t *testing.T) {
	const boxes = 14
	for all := range boxes + 1 {
		for silent := range all + 1 {
			var ways [boxes + 1]int             // by size of the treated group
			var found [boxes + 1][boxes + 1]int // and by its silent boxes
			for chosen := range uint(1) << all {
				ways[bits.OnesCount(chosen)]++
				found[bits.OnesCount(chosen)][bits.OnesCount(chosen&(1<<silent-1))]++
			}
			for n := range all + 1 {
				asMany := 0
				for hits := min(n, silent); hits >= max(0, silent-(all-n)); hits-- {
					asMany += found[n][hits]
					got, want := stats.Fisher(hits, n, silent-hits, all-n), float64(asMany)/float64(ways[n])
					expect.That(t, math.Abs(got-want) < 1e-9, "%d of %d and %d of %d: %g, want %g", hits, n, silent-hits, all-n, got, want)
				}
			}
		}
	}
}

// TestInterval_KnownValues compares with tables of the Clopper-Pearson interval.
func TestInterval_KnownValues(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{
		{0, 10, 0, 0.3085}, {1, 10, 0.0025, 0.4450}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1},
		{10, 100, 0.0490, 0.1762}, {50, 1000, 0.0373, 0.0654}, {0, 1000, 0, 0.0037}, {0, 0, 0, 1},
	} {
		low, high := stats.Interval(c.hits, c.n)
		if math.Abs(low-c.low) > 0.00006 || math.Abs(high-c.high) > 0.00006 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.hits, c.n, low, high, c.low, c.high)
		}
	}
}
