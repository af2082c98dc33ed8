package ratelimit

import (
	"maps"
	"slices"
	"time"
)

// A slot is the number of a 500 ms interval since the Unix epoch.
type slot int64

// An item is what the store holds for one subject.
type item struct {
	total int
	// base is a slot; nothing before it is stored.
	base  slot
	slots map[slot]int
	// override replaces the default limit while it is in force. It is nil if none was set, or it
	// was removed.
	override *counterOverride
}

// A counterOverride is the part of an override that one item holds.
type counterOverride struct {
	Limit int
	// Ends is the first instant at which the default applies again; zero means that there is no
	// end.
	Ends time.Time
}

// inForce reports whether the override applies at an instant.
func (o *counterOverride) inForce(now time.Time) bool {
	return o != nil && (o.Ends.IsZero() || now.Before(o.Ends))
}

func (it item) limit(now time.Time, standard int) int {
	if it.override.inForce(now) {
		return it.override.Limit
	}
	return standard
}

// used is how many requests count at a slot. Later slots count as well; they come from a clock
// of another container, or from a clock that moved back.
func (r rules) used(it item, at slot) int {
	sum := 0
	for s, n := range it.slots {
		if s >= at-r.window {
			sum += n
		}
	}
	return sum
}

// oldestUsed is the first slot that still counts, or the present slot if there is none before
// it.
func (r rules) oldestUsed(it item, at slot) slot {
	oldest := at
	for s, n := range it.slots {
		if n > 0 && s >= at-r.window {
			oldest = min(oldest, s)
		}
	}
	return oldest
}

// newest is the last slot that holds a request; false if no slot does.
func (it item) newest() (slot, bool) {
	var newest slot
	found := false
	for s, n := range it.slots {
		if n > 0 && (!found || s > newest) {
			newest, found = s, true
		}
	}
	return newest, found
}

// ahead is how many requests are stored in slots after the present one.
func (it item) ahead(at slot) int {
	sum := 0
	for s, n := range it.slots {
		if s > at {
			sum += n
		}
	}
	return sum
}

// admits reports whether the condition of a count holds for the item.
func (r rules) admits(it item, c count) bool {
	if it.base == 0 {
		return true // nothing is stored
	}
	if it.override != nil && !it.override.inForce(c.now) {
		return false // a roll follows and removes it
	}
	if it.total >= it.limit(c.now, c.limit) || it.base > c.at-r.settled {
		return false
	}
	return it.base >= c.at-r.fresh || it.total < r.small && it.base >= c.at-r.oldest
}

// free is the first instant at which the item takes another request. If the limit is 0 without
// an end, no such instant exists; then free is the longest Retry-After from now.
func (r rules) free(it item, now time.Time, standard int) time.Time {
	present := r.at(now)
	left := r.used(it, present)
	if left < it.limit(now, standard) {
		return now
	}
	ends := it.override.inForce(now) && !it.override.Ends.IsZero()
	for _, s := range slices.Sorted(maps.Keys(it.slots)) {
		if s < present-r.window {
			continue
		}
		expiry := r.expiry(s)
		if ends && it.override.Ends.Before(expiry) && left < standard {
			return it.override.Ends
		}
		left -= it.slots[s]
		// A higher limit may end between that instant and the whole second at which the caller
		// retries.
		back := now.Add(max(r.retryAfter(now, expiry), expiry.Sub(now)))
		if left < it.limit(expiry, standard) && r.used(it, r.at(back)) < it.limit(back, standard) {
			return expiry
		}
	}
	if ends && left < standard {
		return it.override.Ends
	}
	return now.Add(r.longest)
}
