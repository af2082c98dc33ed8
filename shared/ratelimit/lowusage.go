package ratelimit

import (
	"maps"
	"sync"
	"time"
)

const (
	// lowUsageTime is how long a container assumes that a user is still far below their limits.
	lowUsageTime = 5 * time.Second
	// lowUsageShare is the divisor for low usage: a user has it while at most 1/2 of a limit is
	// used.
	lowUsageShare = 2
	// lowUsageSize is how many users are remembered before expired entries are removed.
	lowUsageSize = 4096
)

// lowUsage remembers the users who were far below their limits a moment ago. Their counts and their organization's are
// written in parallel, which saves a round trip. For all other users the organization's count comes second, so that a
// rejected user costs the organization no write. A remembered user can use up the second half of a limit within
// lowUsageTime. Then each container writes the organization's count once for nothing, and gives it back; the rejection
// removes the user from the memory.
type lowUsage struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// has reports whether the subject was recently far below its limit. It is false for an entry from
// the future, because the clock has moved back and the age is unknown.
func (u *lowUsage) has(key string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, ok := u.seen[key]
	return ok && !now.Before(at) && now.Sub(at) < lowUsageTime
}

// note remembers what a verdict says about a subject's usage.
func (u *lowUsage) note(key string, v verdict, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !v.admitted || v.used*lowUsageShare > v.limit {
		delete(u.seen, key)
		return
	}
	if u.seen == nil {
		u.seen = map[string]time.Time{}
	}
	if len(u.seen) >= lowUsageSize {
		maps.DeleteFunc(u.seen, func(_ string, at time.Time) bool { return now.Sub(at) >= lowUsageTime })
	}
	if len(u.seen) >= lowUsageSize {
		clear(u.seen)
	}
	u.seen[key] = now
}

// mergeLevels puts the levels of a request into one if all of the user's counts have low usage.
func (u *lowUsage) mergeLevels(levels [][]subject, now time.Time) [][]subject {
	if len(levels) < 2 {
		return levels
	}
	for _, s := range levels[0] {
		if !u.has(s.key, now) {
			return levels
		}
	}
	var one []subject
	for _, level := range levels {
		one = append(one, level...)
	}
	return [][]subject{one}
}
