package stats_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/stats"
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

// TestFisher_CountsTheWaysToDeal compares the test with all ways to choose which boxes have the release.
func TestFisher_CountsTheWaysToDeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 7).Draw(t, "treated"), rapid.IntRange(0, 7).Draw(t, "control")
		silent := rapid.IntRange(0, n+m).Draw(t, "silent")
		hits := rapid.IntRange(max(0, silent-m), min(n, silent)).Draw(t, "of the treated")
		ways, asMany := 0, 0
		for chosen := range 1 << (n + m) {
			size, found := 0, 0
			for box := range n + m {
				if chosen>>box&1 == 1 {
					size++
					if box < silent {
						found++
					}
				}
			}
			if size == n {
				ways++
				if found >= hits {
					asMany++
				}
			}
		}
		got, want := stats.Fisher(hits, n, silent-hits, m), float64(asMany)/float64(ways)
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("%d of %d and %d of %d: %g, want %g", hits, n, silent-hits, m, got, want)
		}
	})
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
