package ratelimit

import (
	"maps"
	"slices"
	"time"
)

// A slot numbers a stretch of 500 ms since the Unix epoch.
type slot int64

// An item is what the store holds of one subject.
type item struct {
	total int
	// Base is a slot before which nothing is stored.
	base  slot
	slots map[slot]int
	// Override replaces the default limit while it lasts; nil: none was set, or it was taken back.
	override *Override
}

// An Override is a limit of a subject's own.
type Override struct {
	Limit int
	// Ends is the first instant at which the default applies again; zero: it lasts.
	Ends time.Time
}

// lasts tells whether the override is in force.
func (o *Override) lasts(now time.Time) bool {
	return o != nil && (o.Ends.IsZero() || now.Before(o.Ends))
}

// limit is the limit in force at an instant.
func (it item) limit(now time.Time, standard int) int {
	if it.override.lasts(now) {
		return it.override.Limit
	}
	return standard
}

// used is how many requests count at a slot. Slots ahead of it, which another container's clock or
// one that jumped back has left, count as well.
func (r rules) used(it item, at slot) int {
	sum := 0
	for s, n := range it.slots {
		if s >= at-r.window {
			sum += n
		}
	}
	return sum
}

// oldestUsed is the first slot that still counts, or the present one if none before it does.
func (r rules) oldestUsed(it item, at slot) slot {
	oldest := at
	for s, n := range it.slots {
		if n > 0 && s >= at-r.window {
			oldest = min(oldest, s)
		}
	}
	return oldest
}

// newest is the last slot that holds a request; false: there is none.
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

// ahead is how many requests are stored in slots later than the present one.
func (it item) ahead(at slot) int {
	sum := 0
	for s, n := range it.slots {
		if s > at {
			sum += n
		}
	}
	return sum
}

// admits tells whether the condition of a blind count holds for the item.
func (r rules) admits(it item, c count) bool {
	if it.base == 0 {
		return true // nothing is stored
	}
	if it.override != nil && !it.override.lasts(c.now) {
		return false // the roll that follows clears it away
	}
	if it.total >= it.limit(c.now, c.limit) || it.base > c.at-r.settled {
		return false
	}
	return it.base >= c.at-r.fresh || it.total < r.small && it.base >= c.at-r.oldest
}

// free is the first instant at which the item takes another request. Where it never would, since
// the limit is zero for good, it is the longest wait that a caller is ever asked for.
func (r rules) free(it item, now time.Time, standard int) time.Time {
	present := r.at(now)
	left := r.used(it, present)
	if left < it.limit(now, standard) {
		return now
	}
	ends := it.override.lasts(now) && !it.override.Ends.IsZero()
	for _, s := range slices.Sorted(maps.Keys(it.slots)) {
		if s < present-r.window {
			continue
		}
		expiry := r.expiry(s)
		if ends && it.override.Ends.Before(expiry) && left < standard {
			return it.override.Ends
		}
		left -= it.slots[s]
		// A higher limit may end between that instant and the whole second at which the caller is back.
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
