package ratelimit

import (
	"maps"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// recallTime is the longest time that a rejection is remembered.
	recallTime = 5 * time.Second
	// recallRun is how many rejections, at most recallGap apart, make a container remember. For
	// callers with fewer rejections, every request goes to the store. A raised limit or a
	// returned place takes effect on their next call.
	recallRun = 3
	recallGap = time.Second
	// recallSize is how many subjects are remembered before expired entries are removed.
	recallSize = 1024
)

// A memory holds a container's latest rejections. It may reject a request, but never admit one.
type memory struct {
	mu      sync.Mutex
	entries map[string]rejection
}

type rejection struct {
	run         int
	latest      time.Time
	limit       int
	free        time.Time
	item        item      // as it was; none after a throttling
	from, until time.Time // the time in which it rejects
}

// recall reports whether the memory rejects a subject, and returns the rejection.
func (m *memory) recall(key string, now time.Time) (rejection, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	// A clock that moved back must not extend the entry, so an entry from the future does not
	// count.
	if !ok || now.Before(e.from) || !now.Before(e.until) {
		return rejection{}, false
	}
	e.latest = now
	m.entries[key] = e
	return e, true
}

func (m *memory) rejected(key string, v verdict, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if gap := now.Sub(e.latest); gap < 0 || gap > recallGap {
		e.run = 0
	}
	e.run++
	e.latest, e.limit, e.free, e.item = now, v.limit, v.free, v.item
	if e.run >= recallRun {
		e.from, e.until = now, now.Add(recallTime)
		if v.free.Before(e.until) {
			e.until = v.free
		}
	}
	m.keep(key, e, now)
}

// throttled remembers until when a subject's item takes no more writes.
func (m *memory) throttled(key string, limit int, now, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	e.latest, e.limit, e.free, e.item, e.from, e.until = now, limit, until, item{}, now, until
	m.keep(key, e, now)
}

// keep stores an entry. The caller holds the lock.
func (m *memory) keep(key string, e rejection, now time.Time) {
	if m.entries == nil {
		m.entries = map[string]rejection{}
	}
	if len(m.entries) >= recallSize {
		maps.DeleteFunc(m.entries, func(_ string, old rejection) bool { return now.Sub(old.latest) > recallTime })
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

// A breaker stops calls to a store that failed three times in a row. It stays open for 1 to 5 s,
// at random, so that containers do not all retry at the same time. The first failure after that
// opens it again.
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
