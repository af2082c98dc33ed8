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

var mutants = []mutant{
	{"the window is one slot short", 1, mutation{rules: func(r *rules) { r.window-- }}},
	{"the window is one slot long", 2, mutation{rules: func(r *rules) { r.window++ }}},
	{"the count has no condition on the total", 1, mutation{write: func(_ rules, _ item, w write) write {
		if c, ok := w.(count); ok {
			c.limit = math.MaxInt32
			return c
		}
		return w
	}}},
	{"the base gets so old that slot names repeat", 1, mutation{rules: func(r *rules) { r.oldest, r.small = math.MaxInt32, 1000 }}},
	// The base stays newer here, so that there are more rolls with which others can collide.
	{"a roll has no condition on the total", 7, mutation{rules: func(r *rules) { r.fresh, r.small = 121, 0 }, write: func(_ rules, _ item, w write) write {
		if r, ok := w.(roll); ok {
			r.below, r.exact = math.MaxInt32, false
			return r
		}
		return w
	}}},
	{"a roll has no condition on the base", 4, mutation{write: func(_ rules, it item, w write) write {
		if r, ok := w.(roll); ok {
			r.from, r.seen = it.base, it.total
			for s := range r.remove {
				r.remove[s] = it.slots[s]
			}
			return r
		}
		return w
	}}},
	{"a roll has no condition on the slots it removes", 4, mutation{write: func(_ rules, it item, w write) write {
		if r, ok := w.(roll); ok && r.from == it.base {
			r.exact = false
			r.remove = maps.Clone(r.remove)
			for s := range r.remove {
				r.remove[s] = it.slots[s]
			}
			return r
		}
		return w
	}}},
	{"a roll has no condition on the override", 1, mutation{write: func(_ rules, it item, w write) write {
		if r, ok := w.(roll); ok {
			r.override = it.override
			return r
		}
		return w
	}}},
	{"a roll forgets a slot", 4, mutation{write: func(_ rules, _ item, w write) write {
		if r, ok := w.(roll); ok {
			r.remove = maps.Clone(r.remove)
			for s := range r.remove {
				delete(r.remove, s)
				break
			}
			return r
		}
		return w
	}}},
	{"a roll does not count its request", 1, mutation{write: func(_ rules, _ item, w write) write {
		if r, ok := w.(roll); ok {
			r.only = true
			return r
		}
		return w
	}}},
	{"an override never ends", 1, mutation{write: func(_ rules, it item, w write) write {
		if c, ok := w.(count); ok && it.override != nil && !it.override.Ends.IsZero() {
			c.now = it.override.Ends.Add(-time.Millisecond)
			return c
		}
		return w
	}}},
	{"a request is given back to another slot", 5, mutation{write: func(_ rules, it item, w write) write {
		if g, ok := w.(giveBack); ok {
			for s, n := range it.slots {
				if s != g.at {
					return giveBack{at: s, last: n == 1}
				}
			}
		}
		return w
	}}},
	{"Retry-After is a second short", 3, mutation{wait: func(d time.Duration) time.Duration { return max(d-time.Second, time.Second) }}},
	{"Retry-After is rounded down", 6, mutation{wait: func(d time.Duration) time.Duration { return d - time.Second }}},
	{"a roll counts its request in the oldest slot", 9, mutation{write: func(_ rules, it item, w write) write {
		if r, ok := w.(roll); ok && !r.only {
			r.at = r.to + 1
			return r
		}
		return w
	}}},
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
