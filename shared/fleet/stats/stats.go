// Package stats bounds shares and compares groups, from counts of boxes. Its bounds and its test are exact, even for
// small counts.
package stats

import "math"

// Upper is the Clopper-Pearson upper bound for a share, given hits in n draws: the share is larger with a probability
// of at most tail. It is 1 if nothing was drawn.
func Upper(hits, n int, tail float64) float64 {
	if hits >= n {
		return 1
	}
	return bisect(func(p float64) bool { return atMost(hits, n, p) > tail })
}

// Lower is the lower bound: the share is smaller with a probability of at most tail. It is 0 if nothing was drawn.
func Lower(hits, n int, tail float64) float64 {
	if hits == 0 {
		return 0
	}
	return bisect(func(p float64) bool { return atMost(n-hits, n, 1-p) < tail })
}

// Interval is the 95 percent Clopper-Pearson interval: from the lower to the upper bound, each with a tail of 2.5
// percent. It is 0 to 1 if nothing was drawn.
func Interval(hits, n int) (low, high float64) {
	const tail = 0.025
	return Lower(hits, n, tail), Upper(hits, n, tail)
}

// bisect finds the share from which a condition that holds for small shares no longer holds.
func bisect(holds func(float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 50 {
		if middle := (low + high) / 2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// atMost is the probability of k hits or fewer in n draws with probability p each, 0 < p < 1 and k < n. It sums the
// tail that does not include the mean, whose terms decrease.
func atMost(k, n int, p float64) float64 {
	if float64(k) < float64(n)*p {
		return fallingSum(binomial(k, n, p), k, func(i int) float64 {
			return float64(k-i) / float64(n-k+i+1) * (1 - p) / p
		})
	}
	return 1 - fallingSum(binomial(k+1, n, p), n-k-1, func(i int) float64 {
		return float64(n-k-1-i) / float64(k+2+i) * p / (1 - p)
	})
}

// AtLeast is the probability of at least hits in n draws with probability p each, 0 < p < 1.
func AtLeast(hits, n int, p float64) float64 {
	switch {
	case hits <= 0:
		return 1
	case hits > n:
		return 0
	}
	return atMost(n-hits, n, 1-p)
}

func binomial(k, n int, p float64) float64 {
	return math.Exp(choose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// Fisher is the probability that at least hits of the n boxes of one group are silent if the group makes no difference:
// the total number of silent boxes is given, and chance distributes them over both groups (Fisher's exact test,
// one-sided). otherHits and otherN are the numbers of the other group.
func Fisher(hits, n, otherHits, otherN int) float64 {
	silent, all := hits+otherHits, n+otherN
	// at is the probability that exactly k of the first group are silent.
	at := func(k int) float64 {
		return math.Exp(choose(silent, k) + choose(all-silent, n-k) - choose(all, n))
	}
	fewest, most := max(0, n-(all-silent)), min(n, silent)
	if hits <= fewest {
		return 1
	}
	if float64(hits)*float64(all) > float64(n)*float64(silent) {
		return fallingSum(at(hits), most-hits, func(i int) float64 {
			k := hits + i
			return float64(silent-k) / float64(k+1) * float64(n-k) / float64(all-silent-n+k+1)
		})
	}
	return 1 - fallingSum(at(hits-1), hits-1-fewest, func(i int) float64 {
		k := hits - 1 - i
		return float64(k) / float64(silent-k+1) * float64(all-silent-n+k) / float64(n-k+1)
	})
}

// fallingSum adds up a first term and more that follow; ratio(i) is the ratio of the term after i to term i. It stops
// when terms are too small to matter.
func fallingSum(term float64, more int, ratio func(i int) float64) float64 {
	sum := term
	for i := range more {
		term *= ratio(i)
		if term < sum*1e-17 {
			break
		}
		sum += term
	}
	return min(sum, 1)
}

// choose is the logarithm of the number of ways to choose k out of n.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
