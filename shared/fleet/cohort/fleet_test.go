package cohort_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/testing/expect"
)

// fleetSize is how many boxes the statistics use: 10,000,000 in the long run of the tests.
func fleetSize() int { return expect.Long(100_000, 10_000_000) }

// The ways in which factories name boxes. Each is a fixed sequence, so that a test that passes once always passes.
var namings = []struct {
	name string
	ids  func() func() string
}{
	{"sequential ids", func() func() string {
		n := 0
		return func() string { n++; return fmt.Sprintf("box-%d", n) }
	}},
	{"random ids", func() func() string {
		const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		r := rand.New(rand.NewPCG(1, 2))
		return func() string {
			id := make([]byte, 12)
			for i := range id {
				id[i] = letters[r.IntN(len(letters))]
			}
			return string(id)
		}
	}},
	{"UUIDs", func() func() string {
		r := rand.New(rand.NewPCG(3, 4))
		return func() string {
			var u uuid.UUID
			for i := range u {
				u[i] = byte(r.Uint32())
			}
			u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
			return u.String()
		}
	}},
}

// within4Sigma compares a count of independent draws with its expectation.
func within4Sigma(t *testing.T, what string, got, n int, p float64) {
	t.Helper()
	want, sigma := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	deviation := 0.0
	if sigma > 0 {
		deviation = (float64(got) - want) / sigma
	}
	t.Logf("%s: %d of %d boxes, expected %.0f, %+.2f σ", what, got, n, want, deviation)
	if math.Abs(float64(got)-want) > 4*sigma {
		t.Errorf("%s: %d of %d boxes, expected %.0f ± %.0f", what, got, n, want, 4*sigma)
	}
}

func TestIn_TheShareOfAFleetIsThePercentage(t *testing.T) {
	stages := []int{1, 10, 50, 100}
	for _, naming := range namings {
		t.Run(naming.name, func(t *testing.T) {
			next, n := naming.ids(), fleetSize()
			in := make([]int, len(stages))
			for range n {
				b := cohort.Of("gateway-x", "2.0.0", next())
				for i, percent := range stages {
					if b.In(percent) {
						in[i]++
					}
				}
			}
			for i, percent := range stages {
				within4Sigma(t, fmt.Sprintf("%d percent", percent), in[i], n, float64(percent)/100)
			}
		})
	}
}

func TestOf_TwoVersionsPickIndependentCohorts(t *testing.T) {
	pairs := [][2]string{{"2.0.0", "2.0.1"}, {"1", "2"}, {"2.0.0", "2.0.0-rc.1"}, {"10.0.0", "1.0.00"}}
	for _, naming := range namings {
		for _, versions := range pairs {
			t.Run(naming.name+" "+versions[0]+" "+versions[1], func(t *testing.T) {
				next, n := naming.ids(), fleetSize()/4
				var sumA, sumB, sumAB, sumA2, sumB2 float64
				both := map[int]int{1: 0, 10: 0, 50: 0}
				for range n {
					id := next()
					a, b := cohort.Of("gateway-x", versions[0], id), cohort.Of("gateway-x", versions[1], id)
					for percent := range both {
						if a.In(percent) && b.In(percent) {
							both[percent]++
						}
					}
					x, y := float64(a)/math.MaxUint64, float64(b)/math.MaxUint64
					sumA, sumB, sumAB, sumA2, sumB2 = sumA+x, sumB+y, sumAB+x*y, sumA2+x*x, sumB2+y*y
				}
				for percent, count := range both {
					p := float64(percent) / 100
					within4Sigma(t, fmt.Sprintf("in both cohorts at %d percent", percent), count, n, p*p)
				}
				size := float64(n)
				r := (size*sumAB - sumA*sumB) / math.Sqrt((size*sumA2-sumA*sumA)*(size*sumB2-sumB*sumB))
				t.Logf("correlation of the buckets %+.5f, 4 σ are %.5f", r, 4/math.Sqrt(size))
				if math.Abs(r) > 4/math.Sqrt(size) {
					t.Errorf("correlation %+.5f of %d boxes", r, n)
				}
			})
		}
	}
}
