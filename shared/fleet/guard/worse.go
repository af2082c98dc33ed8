package guard

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"wavegate/shared/fleet/stats"
)

// scored is a box's change: how much worse a number is than before, apart from what its factory has in common.
type scored struct {
	Worker
	score float64
}

// changes scores the boxes that say a number. The median of a factory is taken off, so a change of its product is no
// evidence. A gauge of boxes with the release may be worse by the acceptable share.
func (n Number) changes(name string, workers []Worker) (list []scored) {
	factories := map[string][]float64{}
	for _, w := range workers {
		if !w.says(name) {
			continue
		}
		s := scored{w, n.worse(w.Before[name], w.Now[name])}
		if n.Is == gauge && w.Reached {
			s.score -= math.Log1p(n.By)
		}
		list, factories[w.Factory] = append(list, s), append(factories[w.Factory], s.score)
	}
	medians := map[string]float64{}
	for factory, scores := range factories {
		medians[factory] = median(scores)
	}
	for i := range list {
		list[i].score -= medians[list[i].Factory]
	}
	return list
}

// worse is how much worse a number is than before.
func (n Number) worse(before, now float64) float64 {
	const least = 1e-12 // a gauge of 0 has no logarithm
	if n.Is == gauge {
		before, now = max(before, least), max(now, least)
	}
	switch {
	case n.Is == counter:
		return now - before
	case n.Worse == lower:
		return math.Log(before / now)
	}
	return math.Log(now / before)
}

// chances are the probabilities that chance makes boxes with the release so much worse: by the sum of their ranks, and by how
// many of them are among the worst. Chance is the hash, which chose these boxes within each factory.
func chances(list []scored) (most, few float64) {
	slices.SortFunc(list, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	if len(list) == 0 {
		return 1, 1
	}
	middle, limit := list[len(list)/2].score, list[int(float64(len(list))*(1-worst))].score
	ranks, among := make([]float64, len(list)), make([]float64, len(list))
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].score == list[i].score {
			end++
		}
		for rank := float64(i+1+end) / 2; i < end; i++ { // the same for equal scores: their mean
			ranks[i] = rank
			if list[i].score >= limit && list[i].score > middle {
				among[i] = 1
			}
		}
	}
	const half = 0.5 // counts are whole
	return drawn(list, ranks, 0), drawn(list, among, half)
}

// near scores each box by the others of its factory whose change is similar: how much it is worse than they are. So boxes of
// another line, whose product changed, do not matter. What is similar follows from the nearest eighth of all pairs, or of some in
// a large factory. The list is sorted by its scores.
func near(list []scored) []float64 {
	const (
		nearest = 8
		spread  = 0.22 // the distance below which an eighth of the pairs of normal variables are
		widest  = 2.5
		some    = 64
	)
	factories := map[string][]int{}
	for i, s := range list {
		factories[s.Factory] = append(factories[s.Factory], i)
	}
	scores := make([]float64, len(list))
	var distances []float64
	for _, boxes := range factories {
		step := 1 + len(boxes)/some
		for at, i := range boxes {
			for other := at + 1; other < len(boxes); other += step {
				distances = append(distances, list[boxes[other]].score-list[i].score)
			}
		}
	}
	if len(distances) == 0 {
		return scores
	}
	slices.Sort(distances)
	width := widest / spread * distances[len(distances)/nearest]
	for _, boxes := range factories {
		for at, i := range boxes {
			for _, j := range boxes[at+1:] {
				x := (list[j].score - list[i].score) / width
				if !(x < 1) {
					break
				}
				by := x * (1 - x*x) * (1 - x*x) // Tukey's biweight
				scores[i], scores[j] = scores[i]-by, scores[j]+by
			}
		}
	}
	return scores
}

// drawn is the probability that the scores of the reached boxes add up to so much or more by chance.
func drawn(list []scored, scores []float64, less float64) float64 {
	type stratum struct {
		scores  []float64
		reached int
	}
	sum, strata := -less, map[string]*stratum{}
	for i, s := range list {
		of := strata[s.Factory]
		if of == nil {
			of = &stratum{}
			strata[s.Factory] = of
		}
		if of.scores = append(of.scores, scores[i]); s.Reached {
			of.reached++
			sum += scores[i]
		}
	}
	var lot stats.Lot
	for _, factory := range slices.Sorted(maps.Keys(strata)) {
		lot.Draw(strata[factory].scores, strata[factory].reached)
	}
	return lot.AtLeast(sum)
}

// harms reports whether a number is worse with the release, at a level. It sorts the changes.
func (n Number) harms(name string, list []scored, level float64) bool {
	reached, worse := 0, 0
	for _, s := range list {
		if s.Reached {
			reached++
		}
		if s.Reached && s.score > 0 {
			worse++
		}
	}
	if reached < fewestSaying || worse < fewestHalting {
		return false
	}
	if n.Is == counter && !n.risen(name, list) {
		return false
	}
	most, few := chances(list)
	return most <= level*mostWorse || few <= level*fewWorse || n.Is == gauge && drawn(list, near(list), 0) <= level*nearWorse
}

// risen reports whether a counter is higher with the release than without it, by the acceptable share. No box counts for more
// than the third of those with the release, so that a box cannot hide what they say by saying a large number.
func (n Number) risen(name string, list []scored) bool {
	var said []float64
	for _, s := range list {
		if s.Reached {
			said = append(said, s.Now[name])
		}
	}
	slices.Sort(said)
	most, without := said[len(said)-fewestHalting], []float64{}
	for i, x := range said {
		said[i] = min(x, most)
	}
	for _, s := range list {
		if !s.Reached {
			without = append(without, min(s.Now[name], most))
		}
	}
	return most > 0 && mean(said) >= (1+n.By)*mean(without)
}

// now is what the boxes of a group say now.
func (n Number) now(name string, list []scored, reached bool) float64 {
	var all []float64
	sum := 0.0
	for _, s := range list {
		if s.Reached == reached {
			all, sum = append(all, s.Now[name]), sum+s.Now[name]
		}
	}
	switch {
	case len(all) == 0:
		return 0
	case n.Is == counter:
		return sum / float64(len(all))
	}
	return median(all)
}

// more is how much higher a number is with the release: the differences within the factories, each weighted by how much it
// can say.
func (n Number) more(name string, workers []Worker) float64 {
	type parts struct{ with, without []float64 }
	factories := map[string]*parts{}
	raw := Number{Is: n.Is, Worse: higher}
	for _, w := range workers {
		if !w.says(name) {
			continue
		}
		of := factories[w.Factory]
		if of == nil {
			of = &parts{}
			factories[w.Factory] = of
		}
		if change := raw.worse(w.Before[name], w.Now[name]); w.Reached {
			of.with = append(of.with, change)
		} else {
			of.without = append(of.without, change)
		}
	}
	typical, sum, weights := median, 0.0, 0.0
	if n.Is == counter {
		typical = mean
	}
	for _, factory := range slices.Sorted(maps.Keys(factories)) {
		of := factories[factory]
		if a, b := float64(len(of.with)), float64(len(of.without)); a > 0 && b > 0 {
			weight := a * b / (a + b)
			sum, weights = sum+weight*(typical(of.with)-typical(of.without)), weights+weight
		}
	}
	switch {
	case weights == 0:
		return 0
	case n.Is == counter:
		return sum / weights
	}
	return math.Expm1(sum / weights)
}

func mean(list []float64) (m float64) {
	for _, x := range list {
		m += x / float64(len(list))
	}
	return m
}

// median is 0 if there is nothing.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	if n == 0 {
		return 0
	}
	return list[(n-1)/2]/2 + list[n/2]/2
}
