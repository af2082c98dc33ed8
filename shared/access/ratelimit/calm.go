package ratelimit

import (
	"maps"
	"sync"
	"time"
)

const (
	// calmTime is how long a container takes a user to be as far from their limits as it saw them.
	calmTime = 5 * time.Second
	// calmShare of a limit is how much of it a user may have used to be called far from it: 1/2.
	calmShare = 2
	// calmSize is how many users are remembered before those that are past are swept out.
	calmSize = 4096
)

// A calm is what a container knows of users who were far from their limits a moment ago. Their
// organization is asked at the same time as they are, which saves a round trip. It is asked after
// them else, so that one who exceeds a limit costs the organization nothing; one who runs through
// half a limit within calmTime costs it one write, which is given back, in each container, since a
// rejection ends the calm.
type calm struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// has tells whether the subject was lately seen far from its limit. A clock that went back says
// nothing about age.
func (c *calm) has(key string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.seen[key]
	return ok && !now.Before(at) && now.Sub(at) < calmTime
}

// note remembers what a verdict said of a subject.
func (c *calm) note(key string, v verdict, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !v.admitted || v.used*calmShare > v.limit {
		delete(c.seen, key)
		return
	}
	if c.seen == nil {
		c.seen = map[string]time.Time{}
	}
	if len(c.seen) >= calmSize {
		maps.DeleteFunc(c.seen, func(_ string, at time.Time) bool { return now.Sub(at) >= calmTime })
	}
	if len(c.seen) >= calmSize {
		clear(c.seen)
	}
	c.seen[key] = now
}

// together puts the levels of a request into one where all users' counts are calm.
func (c *calm) together(levels [][]subject, now time.Time) [][]subject {
	for _, s := range levels[0] {
		if !c.has(s.key, now) {
			return levels
		}
	}
	var one []subject
	for _, level := range levels {
		one = append(one, level...)
	}
	return [][]subject{one}
}
