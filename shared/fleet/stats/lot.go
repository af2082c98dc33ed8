package stats

import "math"

// A Lot is the sum of some scores if chance chooses which ones are summed: from each stratum a given number, every choice of
// that many equally likely, and each stratum for itself. It holds the sum's first three moments.
type Lot struct{ mean, variance, third float64 }

// Draw adds a stratum: k of its scores are drawn.
func (l *Lot) Draw(scores []float64, k int) {
	n := float64(len(scores))
	if len(scores) == 0 {
		return
	}
	mean, second, third := 0.0, 0.0, 0.0
	for _, s := range scores {
		mean += s / n
	}
	for _, s := range scores {
		d := s - mean
		second, third = second+d*d, third+d*d*d
	}
	drawn := float64(k)
	l.mean += drawn * mean
	if n > 1 {
		l.variance += drawn * (n - drawn) / (n * (n - 1)) * second
	}
	if n > 2 {
		l.third += drawn * (n - drawn) * (n - 2*drawn) / (n * (n - 1) * (n - 2)) * third
	}
}

// AtLeast is the probability that the sum is so large or larger, as a gamma distribution with the same moments has it. A
// normal distribution is wrong by orders of magnitude where few are drawn of many: it halts good releases.
func (l Lot) AtLeast(sum float64) float64 {
	if l.variance <= 0 {
		return 1
	}
	deviation := math.Sqrt(l.variance)
	z, skew := (sum-l.mean)/deviation, l.third/(l.variance*deviation)
	const straight = 0.003 // a smaller skewness does not matter
	if math.Abs(skew) < straight {
		return math.Erfc(z/math.Sqrt2) / 2
	}
	shape := 4 / (skew * skew)
	if skew > 0 {
		return 1 - gammaBelow(shape, shape+z*math.Sqrt(shape))
	}
	return gammaBelow(shape, shape-z*math.Sqrt(shape))
}

// gammaBelow is the probability that a gamma variable of a shape, and of scale 1, is at most x.
func gammaBelow(shape, x float64) float64 {
	if x <= 0 {
		return 0
	}
	log, _ := math.Lgamma(shape)
	density := math.Exp(shape*math.Log(x) - x - log)
	if x < shape+1 {
		term := 1 / shape
		sum := term
		for n := shape + 1; term > sum*1e-16; n++ {
			term *= x / n
			sum += term
		}
		return min(sum*density, 1)
	}
	return max(1-density*fraction(shape, x), 0)
}

// fraction is the continued fraction of the incomplete gamma function above x (Lentz's method).
func fraction(shape, x float64) float64 {
	const tiny = 1e-300
	b := x + 1 - shape
	c, d := 1/tiny, 1/b
	f := d
	for i := 1.0; i < 100_000; i++ {
		a := -i * (i - shape)
		b += 2
		if d = a*d + b; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + a/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		f *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return f
}
