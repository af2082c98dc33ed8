package ratelimit

import (
	"context"
	"time"
)

// A write is one conditional change to a subject's item. The store applies it in full, or not at
// all if its condition fails. In both cases it answers with the item as it is afterwards.
type write interface{ isWrite() }

// A store holds the items of all subjects.
type store interface {
	// apply returns the item after the write, and whether the write was applied. After an error,
	// neither is known.
	apply(ctx context.Context, key string, w write) (item, bool, error)
}

// A count is the usual write: it adds one request without reading the item first. Its condition
// is rules.admits.
type count struct {
	at    slot
	now   time.Time
	limit int // the default, unless an override is in force
}

// A roll removes expired slots from an item and, unless only is set, counts a request. It is applied only if the item's
// base equals the field from, its total is less than the field below, every slot in remove still holds what was read,
// and the override is the one that was read. Others may count in the meantime, as long as no count is lost and the limit
// is kept. If exact is set, the total must be the one that was read (seen), so no other request can be counted in the
// meantime.
type roll struct {
	at       slot
	now      time.Time
	from, to slot // the base before and after
	below    int
	exact    bool
	seen     int
	expired  int          // is subtracted from the total
	pulled   int          // moves from later slots to the present one
	remove   map[slot]int // the expired slots and the pulled ones, with what they hold
	only     bool         // rolls without counting
	// override is the one that was read, or nil. The limit depends on it, both for below and for a rejection after only.
	// If it has ended, the same write removes it.
	override *counterOverride
}

// A giveBack undoes one count or roll in slot at. Its condition is that the slot holds more than
// one request, or exactly one if last is set. In that case the slot is removed too, so that no
// empty slot stays.
type giveBack struct {
	at   slot
	last bool
}

func (count) isWrite()    {}
func (roll) isWrite()     {}
func (giveBack) isWrite() {}

// counted is how many requests the roll adds to the present slot.
func (w roll) counted() int {
	if w.only {
		return 0
	}
	return 1
}

func (w roll) endsOverride() bool { return w.override != nil && !w.override.inForce(w.now) }

// A verdict is the result of one request at one subject.
type verdict struct {
	admitted bool
	at       slot // where it was counted
	alone    bool // that slot holds this request only
	limit    int
	used     int
	// free is when the next place becomes free. For a rejection it is the first instant at which
	// the request would be admitted. Otherwise it is the instant from which more is left than
	// now.
	free time.Time
	item item // afterwards
	// throttled is set for a request that was rejected because its item takes no more writes at
	// the moment.
	throttled bool
	// writes is how many writes the request took.
	writes int
}

// An attempt is one request at one subject, step by step. The caller sends next, passes the
// answer to answered, and repeats until there is a verdict. An attempt does no I/O.
type attempt struct {
	rules    rules
	now      time.Time
	standard int
	next     write
	writes   int
}

func (r rules) begin(now time.Time, standard int) *attempt {
	a := &attempt{rules: r, now: now, standard: standard}
	a.next = count{at: r.at(now), now: now, limit: standard}
	return a
}

// answered takes the store's answer to next: the item, and whether the write was applied.
func (a *attempt) answered(it item, applied bool) (verdict, bool) {
	a.writes++
	at := a.rules.at(a.now)
	if applied {
		if roll, ok := a.next.(roll); ok && roll.only {
			return a.rejected(it), true
		}
		return a.admitted(it), true
	}
	limit := it.limit(a.now, a.standard)
	if a.writes > a.rules.attempts {
		// This was never observed. A rejection keeps the first property; an admission might not.
		return verdict{limit: limit, used: limit, free: a.now.Add(a.rules.slot), writes: a.writes}, true
	}
	if a.rules.used(it, at) >= limit {
		free := a.rules.free(it, a.now, a.standard)
		if it.ahead(at) > 0 && a.rules.retryAfter(a.now, free) < free.Sub(a.now) {
			// Requests are stored so far ahead of this clock that the wait would be longer than
			// a minute. Moving them to the present keeps Retry-After correct for all callers.
			a.next = a.rules.roll(it, a.now, limit, true)
			return verdict{}, false
		}
		return a.rejected(it), true
	}
	if count := (count{at: at, now: a.now, limit: a.standard}); a.rules.admits(it, count) {
		a.next = count // another roll came first and made room
		return verdict{}, false
	}
	a.next = a.rules.roll(it, a.now, limit, false)
	return verdict{}, false
}

func (a *attempt) admitted(it item) verdict {
	at := a.rules.at(a.now)
	v := verdict{admitted: true, at: at, alone: it.slots[at] == 1, limit: it.limit(a.now, a.standard), item: it, writes: a.writes}
	v.used = a.rules.used(it, at)
	v.free = a.rules.expiry(a.rules.oldestUsed(it, at))
	return v
}

func (a *attempt) rejected(it item) verdict {
	return verdict{
		limit:  it.limit(a.now, a.standard),
		used:   a.rules.used(it, a.rules.at(a.now)),
		free:   a.rules.free(it, a.now, a.standard),
		item:   it,
		writes: a.writes,
	}
}

func (r rules) roll(it item, now time.Time, limit int, only bool) roll {
	at := r.at(now)
	w := roll{at: at, now: now, from: it.base, to: max(it.base, at-r.window), seen: it.total, remove: map[slot]int{}, only: only, override: it.override}
	// A clock that is this far behind moves the item back to its own time.
	pull := only || it.base > at-r.settled
	if pull {
		w.to = at - r.window
	}
	for s, n := range it.slots {
		switch {
		case s < at-r.window:
			w.expired += n
			w.remove[s] = n
		case s > at && pull:
			w.pulled += n
			w.remove[s] = n
		}
	}
	w.below = limit + w.expired
	// The roll removes slots in which others could still count without its notice.
	w.exact = pull || w.to > w.from+r.settled
	return w
}
