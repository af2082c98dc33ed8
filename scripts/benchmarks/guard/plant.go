package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A span is a period during which a plant is switched off, from its beginning up to its end. Times of a simulation count from the
// start of the rollout.
type span struct{ from, to time.Duration }

// spans are in order and do not touch.
type spans []span

// at returns the span that contains a time; false: the plant is on.
func (s spans) at(t time.Duration) (span, bool) {
	i, _ := slices.BinarySearchFunc(s, t, func(x span, t time.Duration) int {
		if x.to <= t {
			return -1
		}
		return 1
	})
	if i < len(s) && s[i].from <= t {
		return s[i], true
	}
	return span{}, false
}

// lit returns the first time at or after t at which the plant is on.
func (s spans) lit(t time.Duration) time.Duration {
	if x, dark := s.at(t); dark {
		return x.to
	}
	return t
}

// nextPowerUp returns when the plant is next switched on after a time; false: never again.
func (s spans) nextPowerUp(t time.Duration) (time.Duration, bool) {
	for _, x := range s {
		if x.to > t {
			return x.to, true
		}
	}
	return 0, false
}

// darkness returns when each plant is off. Each entry of the world chooses its plants at random.
func (w world) darkness(r *rand.Rand) []spans {
	plants := make([]spans, w.Plants)
	for _, d := range w.Dark {
		for _, plant := range r.Perm(w.Plants)[:chosen(d.Plants, w.Plants)] {
			plants[plant] = append(plants[plant], w.spans(d)...)
		}
	}
	for i := range plants {
		plants[i] = plants[i].joined()
	}
	return plants
}

// spans returns the times that an entry means.
func (w world) spans(d dark) (list spans) {
	const before, after = 3, 10 // days around the world's own
	midnight := w.Start.Truncate(24 * time.Hour)
	for day := -before; day < w.Days+after; day++ {
		begin := midnight.AddDate(0, 0, day)
		if d.Days[begin.Weekday()] {
			list = append(list, span{begin.Add(d.From).Sub(w.Start), begin.Add(d.To).Sub(w.Start)})
		}
	}
	return list.joined()
}

// chosen returns a share of a number, rounded.
func chosen(share float64, of int) int { return min(int(share*float64(of)+0.5), of) }

// joined returns the spans in order, with overlapping or touching ones merged.
func (s spans) joined() spans {
	slices.SortFunc(s, func(a, b span) int { return int(a.from - b.from) })
	var list spans
	for _, x := range s {
		if n := len(list); n > 0 && x.from <= list[n-1].to {
			list[n-1].to = max(list[n-1].to, x.to)
			continue
		}
		list = append(list, x)
	}
	return list
}
