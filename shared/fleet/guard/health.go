package guard

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"wavegate/shared/fleet/stats"
)

// A Number is how a policy judges a health number: one that boxes say about their work, as their own mean or sum of the last
// 24 hours.
type Number struct {
	Is    string `json:"is"`
	Worse string `json:"worse"`
	// By is the share by which the number may be worse with the release; 0.01 is one percent.
	By float64 `json:"by"`
}

// What a number is, and when it is worse. A counter is worse if it is higher.
const (
	gauge   = "gauge"
	counter = "counter"
	higher  = "higher"
	lower   = "lower"
)

// MostNumbers limits the health numbers of a policy.
const MostNumbers = 8

// A Worker is a box that is asked for its health numbers. Before are those that it said before it ran the release, and Now
// those of the last day; a number that it does not say is missing.
type Worker struct {
	Reached               bool // by the release, whatever happened then
	Factory, Organization string
	Before, Now           map[string]float64
}

// says reports whether the box says a number, now and before.
func (w Worker) says(name string) bool {
	_, before := w.Before[name]
	_, now := w.Now[name]
	return before && now
}

// A Saying counts the boxes that are asked for a number, and those that say it. Now is what these say: the median of a gauge,
// and the mean of a counter.
type Saying struct {
	Boxes int     `json:"boxes"`
	Said  int     `json:"said"`
	Now   float64 `json:"now"`
}

// A NumberLook is the guard's last look at a health number at a stage. It is taken with a Survey.
type NumberLook struct {
	Name    string    `json:"name"`
	Percent int       `json:"percent"`
	At      time.Time `json:"at"`
	Reached Saying    `json:"reached"`
	Control Saying    `json:"control"`
	// More is how much higher the number is with the release, compared with before and with the other boxes: for a gauge as a
	// share, for a counter as a difference.
	More float64 `json:"more"`
	// Halts is set if the number is worse with the release. Only is the organization without which it would not be.
	Halts bool   `json:"halts,omitempty"`
	Only  string `json:"only,omitempty"`
	// Unreported is set if too few boxes say the number, or fewer of those that have the release.
	Unreported bool `json:"unreported,omitempty"`
	// Accepted is set once a person let the rollout go on although the number was worse.
	Accepted bool `json:"accepted,omitempty"`

	counts bool
}

// The probability that the looks at health numbers halt a good release is at most healthHalt, and that they hold it at most
// healthHold. Each number has the same share. A release is tested three times: whether most boxes are a little worse, whether
// they are if factories have several lines of which each changes for itself, and whether a few boxes are much worse.
const (
	healthHalt = 0.0025
	healthHold = 0.01
	mostWorse  = 0.5 // of the level
	nearWorse  = 0.25
	fewWorse   = 0.25
	worst      = 0.05 // of the boxes are the few

	fewestSaying = 10   // reached boxes, for a test
	saying       = 0.5  // of the boxes must say a number
	support      = 0.05 // the others do not contradict a halt below this
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
		for ; i < end; i++ {
			ranks[i] += float64(end) // the same for equal scores
			if list[i].score >= limit && list[i].score > middle {
				among[i] = 1
			}
		}
	}
	for i := len(list) - 1; i >= 0; { // midranks
		begin := i
		for begin >= 0 && list[begin].score == list[i].score {
			begin--
		}
		for first := begin + 1; i > begin; i-- {
			ranks[i] = (ranks[i] + float64(first+1)) / 2
		}
	}
	const half = 0.5 // counts are whole
	return drawn(list, ranks, 0), drawn(list, among, half)
}

// near scores each box by the others of its factory whose change is similar: how much it is worse than they are. So boxes of
// another line, whose product changed, do not matter. What is similar follows from the nearest eighth of all pairs.
func near(list []scored) []float64 {
	const (
		nearest = 8
		spread  = 0.22 // of two normal variables: the median of the nearest quarter of their distances
		widest  = 2.0
	)
	factories := map[string][]int{}
	for i, s := range list {
		factories[s.Factory] = append(factories[s.Factory], i)
	}
	scores := make([]float64, len(list))
	var distances []float64
	pairs := func(each func(i, j int, distance float64)) {
		for _, boxes := range factories {
			for at, i := range boxes {
				for _, j := range boxes[at+1:] {
					each(i, j, list[i].score-list[j].score)
				}
			}
		}
	}
	pairs(func(_, _ int, d float64) { distances = append(distances, math.Abs(d)) })
	if len(distances) == 0 {
		return scores
	}
	slices.Sort(distances)
	width := widest / spread * distances[len(distances)/nearest]
	pairs(func(i, j int, d float64) {
		if x := d / width; math.Abs(x) < 1 {
			by := x * (1 - x*x) * (1 - x*x) // Tukey's biweight
			scores[i], scores[j] = scores[i]+by, scores[j]-by
		}
	})
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

// harms reports whether a number is worse with the release, at a level.
func (n Number) harms(name string, workers []Worker, level float64) bool {
	list := n.changes(name, workers)
	reached := 0
	for _, s := range list {
		if s.Reached {
			reached++
		}
	}
	if reached < fewestSaying {
		return false
	}
	if n.Is == counter {
		with, without := n.now(name, list, true), n.now(name, list, false)
		if with < (1+n.By)*without || with == 0 {
			return false
		}
	}
	most, few := chances(list)
	return most <= level*mostWorse || few <= level*fewWorse || n.Is == gauge && drawn(list, near(list), 0) <= level*nearWorse
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

func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return list[(n-1)/2]/2 + list[n/2]/2
}

// look looks at a number at a share of the budgets.
func (n Number) look(name string, workers []Worker, share func(budget float64) float64) NumberLook {
	l := NumberLook{Name: name, More: n.more(name, workers), counts: n.Is == counter}
	all, silent := make([]scored, len(workers)), make([]float64, len(workers))
	for i, w := range workers {
		of := &l.Control
		if w.Reached {
			of = &l.Reached
		}
		all[i], of.Boxes = scored{Worker: w}, of.Boxes+1
		if w.says(name) {
			of.Said++
			continue
		}
		silent[i] = 1
	}
	list := n.changes(name, workers)
	l.Reached.Now, l.Control.Now = n.now(name, list, true), n.now(name, list, false)
	const half = 0.5
	l.Unreported = l.Reached.few() || l.Control.few() || drawn(all, silent, half) <= share(healthHold)
	if l.Halts = n.harms(name, workers, share(healthHalt)); l.Halts {
		l.Only = n.only(name, workers)
	}
	return l
}

// few reports whether too few boxes say a number.
func (s Saying) few() bool { return float64(s.Said) < saying*float64(s.Boxes) }

// only is the organization without whose boxes a number would not be worse, if those of the others contradict it.
func (n Number) only(name string, workers []Worker) string {
	organizations := map[string]bool{}
	for _, w := range workers {
		organizations[w.Organization] = organizations[w.Organization] || w.Reached
	}
	for _, id := range slices.Sorted(maps.Keys(organizations)) {
		var others []Worker
		saying := 0
		for _, w := range workers {
			if w.Organization == id {
				continue
			}
			others = append(others, w)
			if w.Reached && w.says(name) {
				saying++
			}
		}
		if saying >= OthersEnough && !n.harms(name, others, support) {
			return id
		}
	}
	return ""
}

// numbers looks at the health numbers if a survey is taken, and keeps the last looks at the other stages. What was known when a
// person let the rollout go on does not halt it again.
func (d decision) numbers() []NumberLook {
	e, taken := d.evidence, d.surveyed(d.kinds)
	var list []NumberLook
	for _, l := range e.Numbers {
		if n, judged := d.policy.Health[l.Name]; judged {
			l.counts, l.Accepted = n.Is == counter, l.Accepted || l.Halts && !l.At.After(e.Resumed)
			list = append(list, l)
		}
	}
	if e.Workers != nil && taken.Number > 0 && taken.At.Equal(e.AsOf) && !slices.Equal(d.kinds, e.Surveys) {
		for _, name := range slices.Sorted(maps.Keys(d.policy.Health)) {
			l := d.policy.Health[name].look(name, e.Workers, func(budget float64) float64 {
				return surveyLevel(budget, e.Stage, taken.Number) / float64(len(d.policy.Health))
			})
			l.Percent, l.At = e.Stage, e.AsOf
			l.Accepted = slices.ContainsFunc(list, func(o NumberLook) bool { return o.Name == name && o.Accepted })
			list = append(slices.DeleteFunc(list, func(o NumberLook) bool { return o.Name == name && o.Percent == e.Stage }), l)
		}
	}
	return list
}

// looked reports whether there is a look at each number since the rollout got to its stage, or was resumed.
func (d decision) looked(looks []NumberLook) bool {
	for name := range d.policy.Health {
		if !slices.ContainsFunc(looks, func(l NumberLook) bool {
			return l.Name == name && l.Percent == d.evidence.Stage && !l.At.Before(d.evidence.Since)
		}) {
			return false
		}
	}
	return true
}

func (l NumberLook) halts() bool { return l.Halts && !l.Accepted }

// unreported reports whether a look at the present stage found too few reports.
func (d decision) unreported(l NumberLook) bool { return l.Unreported && l.Percent == d.evidence.Stage }

func (l NumberLook) sentence() string {
	with := fmt.Sprintf("%d of %s that have the release", l.Reached.Said, boxes(l.Reached.Boxes))
	without := fmt.Sprintf("%d of %d that it did not reach", l.Control.Said, l.Control.Boxes)
	if l.counts {
		return fmt.Sprintf("%s is %.3g in %s, and %.3g in %s, in a day on average", l.Name, l.Reached.Now, with, l.Control.Now, without)
	}
	change := "higher"
	if l.More < 0 {
		change = "lower"
	}
	return fmt.Sprintf("%s is %.1f %% %s in %s, compared with %s", l.Name, 100*math.Abs(l.More), change, with, without)
}

func (l NumberLook) missing() string {
	return fmt.Sprintf("%d of %s that have the release say %s, and %d of %d that it did not reach; to go on without this number, take it out of the policy",
		l.Reached.Said, boxes(l.Reached.Boxes), l.Name, l.Control.Said, l.Control.Boxes)
}
