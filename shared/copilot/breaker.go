package copilot

import (
	"sync"
	"time"
)

const (
	// breakerTimeouts is how many calls in a row have to time out before the upstream is left alone. One
	// alone may be a hard question.
	breakerTimeouts = 2
	// breakerRest is for how long it is left alone. Then one call tries.
	breakerRest = 30 * time.Second
)

// A breaker leaves an upstream alone that takes too long: a call that waits in vain holds one of the
// account's concurrent executions for as long as the upstream may take. It is safe for concurrent use.
type breaker struct {
	mu       sync.Mutex
	timeouts int // in a row
	until    time.Time
}

// rest tells for how long no call is made; 0: calls are made.
func (b *breaker) rest(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A clock that is set back does not lengthen the rest.
	return max(0, min(b.until.Sub(now.Round(0)), breakerRest))
}

// timedOut notes a call that took too long.
func (b *breaker) timedOut(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timeouts++; b.timeouts >= breakerTimeouts {
		b.until = now.Round(0).Add(breakerRest)
	}
}

// answered notes a call that did not: the upstream answers, or fails at once.
func (b *breaker) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timeouts = 0
}
