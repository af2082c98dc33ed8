package copilot

import (
	"sync"
	"time"
)

const (
	// breakerTimeouts is how many calls in a row must time out before the breaker opens. A single one may be a hard
	// question.
	breakerTimeouts = 2
	// breakerRest is how long it stays open. Then one call tries again.
	breakerRest = 30 * time.Second
)

// A breaker stops calls to an assistant that takes too long: each waiting call uses one of the account's concurrent
// executions until it times out. It is safe for concurrent use.
type breaker struct {
	mu       sync.Mutex
	timeouts int // in a row
	until    time.Time
}

// rest returns how long no calls are made; 0 means that calls are made.
func (b *breaker) rest(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A clock that is set back does not lengthen the rest.
	return max(0, min(b.until.Sub(now.Round(0)), breakerRest))
}

// timedOut records a call that took too long.
func (b *breaker) timedOut(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timeouts++; b.timeouts >= breakerTimeouts {
		b.until = now.Round(0).Add(breakerRest)
	}
}

// answered records a call that did not take too long: the assistant answered, or failed quickly.
func (b *breaker) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timeouts = 0
}
