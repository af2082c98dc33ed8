package stats

import (
	"math"
	"testing"
)

// TestGammaBelow_KnownValues: half of a chi-squared variable with 2k degrees of freedom has the shape k, and of shape 1 it is
// exponential.
func TestGammaBelow_KnownValues(t *testing.T) {
	for _, c := range []struct{ shape, x, want float64 }{
		{1, 1, 1 - math.Exp(-1)}, {1, 20, 1 - math.Exp(-20)}, {0.5, 1.9207294, 0.95}, {5, 9.1535190, 0.95}, {5, 1.9701496, 0.05},
		{50, 62.1710532, 0.95}, {2, 0, 0}, {2, -1, 0},
	} {
		if got := gammaBelow(c.shape, c.x); math.Abs(got-c.want) > 1e-7 {
			t.Errorf("shape %g below %g: %.9f, want %.9f", c.shape, c.x, got, c.want)
		}
	}
	if got := gammaBelow(400_000, 400_000); math.Abs(got-0.5) > 0.001 {
		t.Errorf("the median of a large shape: %g", got)
	}
}
