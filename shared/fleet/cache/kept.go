// Package cache keeps what polls read, such as the rows of release channels, in a container for a short time.
package cache

import (
	"context"
	"sync"
	"time"
)

// Of keeps a container's values of an edge type for a short time, by name. Reads are strongly consistent, and a
// value's age counts from the start of its read. So a value that is served was the stored one no longer ago than the
// caller allows. It is safe for concurrent use.
type Of[V any] struct {
	read func(ctx context.Context, edgeType, name string) (V, error)
	now  func() instant

	mu   sync.Mutex
	kept map[[2]string]reading[V]
}

// A reading is a value and when its read began.
type reading[V any] struct {
	value V
	began instant
}

// An instant is a reading of both clocks of a machine. The monotonic clock may stop while a container is frozen between
// calls, and the wall clock may be set back. Neither clock does both, so a value is old if either clock says so.
type instant struct {
	wall      time.Time
	monotonic time.Duration
}

// instants turns a clock like time.Now, which reads both clocks, into one of instants.
func instants(now func() time.Time) func() instant {
	start := now()
	return func() instant {
		t := now()
		return instant{wall: t.Round(0), monotonic: t.Sub(start)} // Round strips the monotonic reading
	}
}

// New makes an empty cache. now must be a clock like time.Now, which reads the wall clock and the monotonic clock.
func New[V any](now func() time.Time, read func(ctx context.Context, edgeType, name string) (V, error)) *Of[V] {
	return newAt(instants(now), read)
}

func newAt[V any](now func() instant, read func(ctx context.Context, edgeType, name string) (V, error)) *Of[V] {
	return &Of[V]{read: read, now: now, kept: map[[2]string]reading[V]{}}
}

// mostKept limits the values of one kind in a container. Beyond it, all are dropped: they are read again every few
// seconds anyway.
const mostKept = 1024

// Get returns the stored value, or one that was stored less than age ago.
func (c *Of[V]) Get(ctx context.Context, edgeType, name string, age time.Duration) (V, error) {
	key, began := [2]string{edgeType, name}, c.now()
	c.mu.Lock()
	kept, ok := c.kept[key]
	c.mu.Unlock()
	if ok && fresh(kept.began, began, age) {
		return kept.value, nil
	}
	value, err := c.read(ctx, edgeType, name)
	if err != nil {
		var none V
		return none, err // do not serve an old value instead: a rollout may have been halted since
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= mostKept {
		clear(c.kept)
	}
	c.kept[key] = reading[V]{value, began}
	return value, nil
}

// Forget drops the value of a key.
func (c *Of[V]) Forget(edgeType, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, [2]string{edgeType, name})
}

// fresh reports whether a read that began then may be served now. A wall clock that went back says nothing about age,
// so such a reading must not be served.
func fresh(then, now instant, age time.Duration) bool {
	wall := now.wall.Sub(then.wall)
	return wall >= 0 && wall < age && now.monotonic-then.monotonic < age
}
