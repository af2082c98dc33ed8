package ratelimit

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A mutant is a limiter with one mistake, together with the property that must detect it.
type mutant struct {
	name     string
	property int
	mutation mutation
}

// changed is a mutation of each write of one kind. The change may use the item.
func changed[W write](change func(it item, w W) write) mutation {
	return mutation{write: func(it item, w write) write {
		if of, ok := w.(W); ok {
			return change(it, of)
		}
		return w
	}}
}

// held are the slots that a roll removes, as the item holds them now.
func held(it item, w roll) map[slot]int {
	now := maps.Clone(w.remove)
	for s := range now {
		now[s] = it.slots[s]
	}
	return now
}

var mutants = []mutant{
	{"the window is one slot short", 1, mutation{rules: func(r *rules) { r.window-- }}},
	{"the window is one slot long", 2, mutation{rules: func(r *rules) { r.window++ }}},
	{"the count has no condition on the total", 1, changed(func(_ item, w count) write {
		w.limit = math.MaxInt32
		return w
	})},
	{"the base gets so old that slot names repeat", 1, mutation{rules: func(r *rules) { r.oldest, r.small = math.MaxInt32, 1000 }}},
	// The base stays newer here, so that there are more rolls with which others can collide.
	{"a roll has no condition on the total", 7, mutation{
		rules: func(r *rules) { r.fresh, r.small = 121, 0 },
		write: changed(func(_ item, w roll) write {
			w.below, w.exact = math.MaxInt32, false
			return w
		}).write,
	}},
	{"a roll has no condition on the base", 4, changed(func(it item, w roll) write {
		w.from, w.seen, w.remove = it.base, it.total, held(it, w)
		return w
	})},
	{"a roll has no condition on the slots it removes", 4, changed(func(it item, w roll) write {
		if w.from == it.base {
			w.exact, w.remove = false, held(it, w)
		}
		return w
	})},
	{"a roll has no condition on the override", 1, changed(func(it item, w roll) write {
		w.override = it.override
		return w
	})},
	{"a roll forgets a slot", 4, changed(func(_ item, w roll) write {
		w.remove = maps.Clone(w.remove)
		for s := range w.remove {
			delete(w.remove, s)
			break
		}
		return w
	})},
	{"a roll does not count its request", 1, changed(func(_ item, w roll) write {
		w.only = true
		return w
	})},
	{"an override never ends", 1, changed(func(it item, w count) write {
		if it.override != nil && !it.override.Ends.IsZero() {
			w.now = it.override.Ends.Add(-time.Millisecond)
		}
		return w
	})},
	{"a request is given back to another slot", 5, changed(func(it item, w giveBack) write {
		for s, n := range it.slots {
			if s != w.at {
				return giveBack{at: s, last: n == 1}
			}
		}
		return w
	})},
	{"Retry-After is a second short", 3, mutation{wait: func(d time.Duration) time.Duration { return max(d-time.Second, time.Second) }}},
	{"Retry-After is rounded down", 6, mutation{wait: func(d time.Duration) time.Duration { return d - time.Second }}},
	{"a roll counts its request in the oldest slot", 9, changed(func(_ item, w roll) write {
		if !w.only {
			w.at = w.to + 1
		}
		return w
	})},
	{"an item keeps every slot it ever had", 8, mutation{rules: func(r *rules) { r.small, r.fresh = math.MaxInt32, 3900 }}},
}

// TestMutants_AreCaughtByTheirProperty runs the simulation on faulty limiters, from fixed seeds.
func TestMutants_AreCaughtByTheirProperty(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			found := map[int]int{}
			for seed := range uint64(300) {
				random := rand.New(rand.NewPCG(seed, 0))
				err := newSimulation(random.IntN, m.mutation).run(requestsPerRun)
				v, ok := errors.AsType[*violation](err)
				if !ok {
					continue
				}
				if found[v.property]++; v.property == m.property {
					t.Logf("caught from seed %d: %v", seed, v)
					return
				}
			}
			t.Errorf("property %d does not detect it; violations by property: %v", m.property, found)
		})
	}
}
