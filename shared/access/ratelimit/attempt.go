package ratelimit

import (
	"context"
	"time"
)

// A write is one conditional change to a subject's item. The store applies it whole, or not at all
// when its condition does not hold; either way it answers with the item as it then stands.
type write interface{ isWrite() }

// A store holds the items of all subjects.
type store interface {
	// apply answers with the item as it stands after the write, and whether the write was applied. An
	// error means that neither is known.
	apply(ctx context.Context, key string, w write) (item, bool, error)
}

// A count is the usual write: one request more, blindly. It is conditioned on rules.admits.
type count struct {
	at    slot
	now   time.Time
	limit int // the default; an override that lasts replaces it
}

// A roll takes what has expired out of an item and, unless only is set, counts a request. It is
// conditioned on the base being from, on the total being under below, and on every slot to remove
// holding what was read: others may count meanwhile, as long as none of it is lost or over the limit.
// If exact is set, the total is to be seen, the one that was read, and no one may count meanwhile.
type roll struct {
	at       slot
	now      time.Time
	from, to slot // the base before and after
	below    int
	exact    bool
	seen     int
	expired  int          // leaves the total
	pulled   int          // moves from slots ahead of the present one into it
	remove   map[slot]int // slots to forget, the expired ones and those pulled, and what they hold
	only     bool         // rolls without counting
	// ended is the override that has run out and is cleared away in the same write.
	ended *Override
}

// A giveBack undoes one count or roll in slot at. It is conditioned on that slot holding more than
// one request, or just this one if last is set: then the slot goes too, so that none stays empty.
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

// A verdict is what became of one request at one subject.
type verdict struct {
	admitted bool
	at       slot // where it was counted
	alone    bool // that slot holds this request only
	limit    int
	used     int
	// free is when the next place comes free: for a rejection the first instant at which the request
	// would be admitted, otherwise the instant from which more is left than now.
	free time.Time
	// throttled is set for a request that was rejected since its item takes no more writes at the moment.
	throttled bool
	// writes is how many writes it took.
	writes int
}

// An attempt is one request at one subject, step by step: send next, tell answered what came back,
// and go on until it has a verdict. It does no I/O.
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
		// Never seen. Rejecting keeps the first promise where admitting would not.
		return verdict{limit: limit, used: limit, free: a.now.Add(a.rules.slot), writes: a.writes}, true
	}
	if a.rules.used(it, at) >= limit {
		free := a.rules.free(it, a.now, a.standard)
		if it.ahead(at) > 0 && a.rules.retryAfter(a.now, free) < free.Sub(a.now) {
			// Requests are stored so far ahead of this clock that the wait would be longer than a
			// minute. Moving them to the present keeps Retry-After honest for everyone who asks.
			a.next = a.rules.roll(it, a.now, limit, true)
			return verdict{}, false
		}
		return a.rejected(it), true
	}
	if count := (count{at: at, now: a.now, limit: a.standard}); a.rules.admits(it, count) {
		a.next = count // someone else's roll came first and made room
		return verdict{}, false
	}
	a.next = a.rules.roll(it, a.now, limit, false)
	return verdict{}, false
}

func (a *attempt) admitted(it item) verdict {
	at := a.rules.at(a.now)
	v := verdict{admitted: true, at: at, alone: it.slots[at] == 1, limit: it.limit(a.now, a.standard), writes: a.writes}
	v.used = a.rules.used(it, at)
	v.free = a.rules.expiry(a.rules.oldestUsed(it, at))
	return v
}

func (a *attempt) rejected(it item) verdict {
	return verdict{
		limit:  it.limit(a.now, a.standard),
		used:   a.rules.used(it, a.rules.at(a.now)),
		free:   a.rules.free(it, a.now, a.standard),
		writes: a.writes,
	}
}

// roll plans the roll of an item as it was read.
func (r rules) roll(it item, now time.Time, limit int, only bool) roll {
	at := r.at(now)
	w := roll{at: at, now: now, from: it.base, to: max(it.base, at-r.window), seen: it.total, remove: map[slot]int{}, only: only}
	// A clock that is so far behind takes the item back to its own time.
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
	if it.override != nil && !it.override.lasts(now) {
		w.ended = it.override
	}
	w.below = limit + w.expired
	// Slots go that others could still count in, unseen by this roll.
	w.exact = pull || w.to > w.from+r.settled
	return w
}
