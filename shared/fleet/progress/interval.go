package progress

import "math"

// Interval is the exact 95 percent interval of Clopper and Pearson for the share of a population, of
// which hits of n that were drawn at random have a property. With n = 0 nothing is known: 0 to 1.
func Interval(hits, n int) (low, high float64) {
	low, high = 0, 1
	if hits > 0 {
		// The share at which as many hits or more are seen 1 time in 40.
		low = bisect(func(p float64) bool { return 1-atMost(hits-1, n, p) < tail })
	}
	if hits < n {
		high = bisect(func(p float64) bool { return atMost(hits, n, p) > tail })
	}
	return low, high
}

// tail is the chance on each side that the interval leaves out.
const tail = 0.025

// bisect finds where a condition that holds for small shares stops to hold.
func bisect(holds func(float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// atMost is the chance of k hits or fewer in n draws with the chance p each.
func atMost(k, n int, p float64) float64 {
	if p <= 0 {
		return 1
	}
	if p >= 1 {
		return 0 // k is below n
	}
	all, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(all - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}
