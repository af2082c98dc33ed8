package ratelimit

import (
	"maps"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// recallTime is how long a rejection is remembered at most.
	recallTime = 5 * time.Second
	// recallRun is how many rejections, no more than recallGap apart, make a container remember. A
	// caller that does not hammer is asked for every time, so that a limit which was raised, or a
	// place given back, is felt on its very next call.
	recallRun = 3
	recallGap = time.Second
	// recallSize is how many subjects are remembered before those that are past are swept out.
	recallSize = 1024
)

// A memory is what a container knows of its latest rejections. It may reject, never admit.
type memory struct {
	mu      sync.Mutex
	entries map[string]recollection
}

type recollection struct {
	run         int
	latest      time.Time
	limit       int
	free        time.Time
	from, until time.Time // when it rejects
}

// recall tells whether a subject is rejected without asking, with its limit and when a place comes
// free.
func (m *memory) recall(key string, now time.Time) (int, time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	// A clock that jumped back must not stretch the memory: what was learnt later is not known yet.
	if !ok || now.Before(e.from) || !now.Before(e.until) {
		return 0, time.Time{}, false
	}
	e.latest = now
	m.entries[key] = e
	return e.limit, e.free, true
}

func (m *memory) rejected(key string, limit int, now, free time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if gap := now.Sub(e.latest); gap < 0 || gap > recallGap {
		e.run = 0
	}
	e.run++
	e.latest, e.limit, e.free = now, limit, free
	if e.run >= recallRun {
		e.from, e.until = now, now.Add(recallTime)
		if free.Before(e.until) {
			e.until = free
		}
	}
	m.keep(key, e, now)
}

// throttled remembers that a subject's item takes no more writes until an instant.
func (m *memory) throttled(key string, limit int, now, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	e.latest, e.limit, e.free, e.from, e.until = now, limit, until, now, until
	m.keep(key, e, now)
}

// keep stores what is known of a subject. Its caller holds the lock.
func (m *memory) keep(key string, e recollection, now time.Time) {
	if m.entries == nil {
		m.entries = map[string]recollection{}
	}
	if len(m.entries) >= recallSize {
		maps.DeleteFunc(m.entries, func(_ string, old recollection) bool { return now.Sub(old.latest) > recallTime })
	}
	m.entries[key] = e
}

func (m *memory) admitted(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
}

const (
	breakerFailures = 3
	breakerShortest = time.Second
	breakerLongest  = 5 * time.Second
)

// A breaker leaves a store alone that failed three times in a row, for 1 s to 5 s at random, so that
// containers do not come back together. The first failure after that opens it again.
type breaker struct {
	mu          sync.Mutex
	failures    int
	from, until time.Time
}

func (b *breaker) open(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !now.Before(b.from) && now.Before(b.until)
}

func (b *breaker) failed(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures++; b.failures >= breakerFailures {
		b.from = now
		b.until = now.Add(breakerShortest + rand.N(breakerLongest-breakerShortest))
	}
}

func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
}
