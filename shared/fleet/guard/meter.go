package guard

import (
	"math"
	"slices"
)

// A meter may break: the release says a gauge in another unit, or the same whatever happens. Then real harm would hide behind it. The
// probability that this holds a good release is at most meterHold; each of the two tests has a half. That a counter falls to 0 is
// what a fix is for.
const (
	meterHold  = 0.0025
	meterShare = 0.9  // of the boxes that say it
	meterStuck = 0.01 // of what the boxes were apart before
)

// better is what a policy expects of a number that may become much better.
const better = "better"

// meter reports whether a gauge that boxes say is no longer the same meter: nearly all that have the release say at most half of it
// or at least twice as much, beside the others of their factory, or nearly the same each. Chance must not explain it.
func (n Number) meter(name string, workers []Worker, level float64) bool {
	var list []scored
	untouched, before, now := map[string][]float64{}, []float64{}, []float64{}
	for _, w := range workers {
		if !w.says(name) {
			continue
		}
		s := scored{w, Number{Is: n.Is, Worse: higher}.worse(w.Before[name], w.Now[name])}
		if list = append(list, s); w.Reached {
			before, now = append(before, w.Before[name]), append(now, w.Now[name])
		} else {
			untouched[w.Factory] = append(untouched[w.Factory], s.score)
		}
	}
	if n.Is != gauge || n.Expects == better || len(now) < fewestSaying {
		return false
	}
	middle, apart := median(now), spread(before)
	return slices.ContainsFunc([]func(s scored) bool{
		func(s scored) bool { return s.score-median(untouched[s.Factory]) <= -math.Ln2 },
		func(s scored) bool { return s.score-median(untouched[s.Factory]) >= math.Ln2 },
		func(s scored) bool { return apart > 0 && math.Abs(s.Now[name]-middle) <= meterStuck*apart },
	}, func(is func(scored) bool) bool { return nearlyAll(list, is, level/2) })
}

// nearlyAll reports whether something is so of nearly all boxes that have the release, which chance does not explain.
func nearlyAll(list []scored, is func(scored) bool, level float64) bool {
	const half = 0.5 // counts are whole
	reached, so, counts := 0.0, 0.0, make([]float64, len(list))
	for i, s := range list {
		if is(s) {
			counts[i] = 1
		}
		if s.Reached {
			reached, so = reached+1, so+counts[i]
		}
	}
	return so >= meterShare*reached && drawn(list, counts, half) <= level
}

// spread is how far the middle nine of ten values are apart.
func spread(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)*19/20] - list[len(list)/20]
}
