package copilot

import (
	"sync"
	"time"

	"wavegate/shared/access/auth"
)

const (
	// breakerTimeouts is how many calls in a row must time out before the breaker opens. A single one may be a hard
	// question.
	breakerTimeouts = 2
	// breakerRest is how long it stays open. Then one call tries again.
	breakerRest = 30 * time.Second
)

// Breakers stop the calls of an organization to an assistant that takes too long for it: each waiting call uses one of
// the account's concurrent executions until it times out. Questions of one organization never stop those of another.
// It is safe for concurrent use.
type breakers struct {
	mu   sync.Mutex
	each map[string]*breaker // of callers whose last call took too long
}

// mostBreakers bounds the memory. Above that, all are forgotten, and callers whose calls take too long soon have one again.
const mostBreakers = 1024

// callerOf is whose calls are stopped together: those of an organization, or of a user without one.
func callerOf(p auth.Principal) string {
	if p.OrganizationID != "" {
		return "organization " + p.OrganizationID
	}
	return "user " + p.Issuer + " " + p.UserID
}

// rest returns how long no calls of a caller are made; 0 means that calls are made.
func (b *breakers) rest(caller string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.each[caller]; one != nil {
		return one.rest(now)
	}
	return 0
}

// ended records how a call of a caller ended: late if it took too long, otherwise the assistant answered or failed quickly.
func (b *breakers) ended(caller string, late bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.each[caller]
	switch {
	case !late:
		delete(b.each, caller)
	case one == nil:
		if b.each == nil || len(b.each) >= mostBreakers {
			b.each = map[string]*breaker{}
		}
		one = &breaker{}
		b.each[caller] = one
		fallthrough
	default:
		one.timedOut(now)
	}
}

// A breaker counts the calls in a row that took too long.
type breaker struct {
	timeouts int
	until    time.Time
}

func (b *breaker) rest(now time.Time) time.Duration {
	// A clock that is set back does not lengthen the rest.
	return max(0, min(b.until.Sub(now.Round(0)), breakerRest))
}

func (b *breaker) timedOut(now time.Time) {
	if b.timeouts++; b.timeouts >= breakerTimeouts {
		b.until = now.Round(0).Add(breakerRest)
	}
}
