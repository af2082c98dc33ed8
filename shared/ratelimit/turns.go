package ratelimit

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Callers who share a subject are rejected together. If all of them were told the first free place, they would all come
// back at the same time. So each is given a turn: a whole second at which the item has a place for it and for all who
// were given an earlier turn.

// A timeline is what an item holds over the next seconds if only those who were given a turn come. Its index is the
// number of slots after the present one.
type timeline struct {
	// used is how many requests count at a slot.
	used []int
	// told is how many were told to come at a slot.
	told []int
}

// last is the last slot after the present one that matters to a turn.
func (r rules) last() int { return int(r.patience/r.slot) + 1 + int(r.window) }

func (r rules) timeline(it item, told map[slot]int, present slot) timeline {
	t := timeline{used: make([]int, r.last()+1), told: make([]int, r.last()+1)}
	leaves := make([]int, r.last()+1) // how many stop counting at a slot
	leave := func(from slot, n int) {
		if at := int(from + r.window + 1 - present); at < len(leaves) {
			leaves[at] += n
		}
	}
	sum := 0
	for s, n := range it.slots {
		if s >= present-r.window {
			sum += n
			leave(s, n)
		}
	}
	for s, n := range told {
		if at := int(s - present); at >= 0 && at < len(t.told) {
			t.told[at] += n
			leave(s, n)
		}
	}
	for i := range t.used {
		sum += t.told[i] - leaves[i]
		t.used[i] = sum
	}
	return t
}

// turn is the wait of a rejected caller, in whole seconds from the given one on. If everyone comes when told to, each
// is admitted. At most a share of the limit is told the same second. Otherwise a limit that was used up in one moment
// would be used up in one moment again. If more callers wait than have a place in the next two minutes, the wait is the
// longest, and a place is not certain.
func (r rules) turn(it item, told map[slot]int, now time.Time, standard int, from time.Duration) time.Duration {
	present := r.at(now)
	t := r.timeline(it, told, present)
	second := int(time.Second / r.slot)
	for wait := from; wait < r.patience; wait += time.Second {
		back := now.Add(wait)
		limit := it.limit(back, standard)
		at := int(r.at(back) - present)
		beside := 0
		for _, n := range t.told[max(at-second+1, 0) : at+1] {
			beside += n
		}
		if beside >= share(limit) {
			continue
		}
		if r.fits(t, it, now, standard, at) {
			return wait
		}
	}
	return r.patience
}

// fits reports whether one more may come at a slot, without taking the place of anyone who was told a later slot.
func (r rules) fits(t timeline, it item, now time.Time, standard, at int) bool {
	for i := at; i <= at+int(r.window); i++ {
		if i > at && t.told[i] == 0 {
			continue // nobody comes
		}
		begin := now.Add(time.Duration(i-1) * r.slot) // at the latest: the present slot may be nearly over
		if t.used[i] >= min(it.limit(begin, standard), it.limit(begin.Add(2*r.slot), standard)) {
			return false
		}
	}
	return true
}

// share is how many turns of a shared limit one second, or one waiting caller, may have: a sixtieth of the limit,
// rounded up.
func share(limit int) int { return (limit + 59) / 60 }

// turns remembers which turns this container has given. Other containers give their own, so a caller may still find the
// place taken.
type turns struct {
	mu    sync.Mutex
	given map[string]given // by subject
}

// A given is the turns of a subject that are still to come.
type given struct {
	told map[slot]int           // by their slot
	of   map[string][]time.Time // by the caller
}

// take gives a caller the next turn of a subject. A caller who does not wait and asks repeatedly gets no more turns
// than its share, and is then told its last one again. So it cannot use up the turns of the others.
func (t *turns) take(r rules, key, caller string, it item, now time.Time, standard int, from time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given == nil || len(t.given) >= recallSize && t.given[key].told == nil {
		t.given = map[string]given{} // those who were told a turn keep it; others may be told the same
	}
	if t.given[key].told == nil {
		t.given[key] = given{told: map[slot]int{}, of: map[string][]time.Time{}}
	}
	g := t.given[key]
	present := r.at(now)
	// A turn that is over has become a count of the item. One that is far ahead was given before the clock moved back.
	gone := func(s slot) bool { return s < present || s > present+slot(r.last()) }
	maps.DeleteFunc(g.told, func(s slot, _ int) bool { return gone(s) })
	for c, own := range g.of {
		if own = slices.DeleteFunc(own, func(at time.Time) bool { return gone(r.at(at)) }); len(own) == 0 {
			delete(g.of, c)
		} else {
			g.of[c] = own
		}
	}
	if own := g.of[caller]; len(own) >= share(it.limit(now, standard)) {
		return max((own[len(own)-1].Sub(now) + time.Second - 1).Truncate(time.Second), time.Second)
	}
	wait := r.turn(it, g.told, now, standard, from)
	if wait < r.patience {
		at := now.Add(wait)
		g.told[r.at(at)]++
		g.of[caller] = append(g.of[caller], at)
	}
	return wait
}
