// Package ratelimit enforces the service's fair-use limits: at most L requests of a subject are
// admitted in any 60 s, over all callers and containers.
//
// A subject is a user, an organization, or the copilot calls of one of them. Each subject has one
// item in the table rate-counters, the slot log. It holds the requests of the last minute, counted
// in slots of 500 ms.
//
// Each request is one conditional UpdateItem. Usually it adds one to the total and to the present
// slot, on the condition that the total is less than the limit. It reads nothing first, so callers
// do not collide. If the condition fails, DynamoDB returns the item. Then either the request is
// rejected and not counted, or a roll follows: one write that counts the request and subtracts what
// has expired.
//
// The package has these properties; tests refer to them by number:
//
//  1. In any 60 s at most L requests of a subject are admitted; L + 60 with those that may use the
//     reserve (see Reserve).
//  2. A rejection means that at least L requests were admitted in the 60.5 s before it, or that
//     DynamoDB throttled the subject's item because of too many requests.
//  3. A caller that waits its Retry-After is admitted, unless others take the place.
//  4. After every write, the stored total is the sum of the stored slots.
//  5. Giving a request back undoes exactly that request.
//  6. Retry-After is between 1 s and 61 s; up to 121 s for callers who share a subject (see turn).
//  7. If clocks differ by up to ±d, the first property holds for any 60 s − 2d.
//  8. An item stays within 1 KB. All properties also hold if a clock jumps, if a limit changes while
//     calls run, and after an item was idle for any time.
//  9. The newest slot of an item is the slot of the last request that was admitted.
//
// The first property is exact by the containers' clocks. If a clock jumps ahead, counts expire early
// for everyone. If it jumps back, a subject's count lasts up to a minute longer, never shorter.
//
// The pure part (rules, item, attempt) uses no store. Limiter adds the order of subjects, the memory
// of rejections, the reserve, the deadline and the breaker. counters.go calls DynamoDB.
package ratelimit

import "time"

// window is the time over which a limit counts. It is part of the service's promise and is not a
// setting.
const window = time.Minute

// rules are the constants of the slot log. The service has one set. Tests change them to prove
// that the properties detect mistakes.
type rules struct {
	slot time.Duration
	// window is how many slots before the present one still count. The present slot counts as a
	// whole, so a request counts for at least 60 s and less than 60.5 s.
	window slot
	// fresh is the greatest age of the base, in slots, for a count without a roll. Requests that
	// expired since then stay in the total. So the total may be too high, for at most 5 s, but
	// never too low.
	fresh slot
	// settled is the least age of the base. So a count never touches the slots from base to base
	// + settled, and a roll may remove those while others count.
	settled slot
	// small is the highest total at which the base may be older than fresh. An item has at most
	// one slot for each request, so the item stays small, and a caller with few calls never
	// needs a roll.
	small int
	// oldest bounds that age, because the names of slots repeat after ring slots.
	oldest, ring slot
	// attempts bounds how often a request is tried when its rolls collide.
	attempts int
	// margin is added to Retry-After for the difference between clocks and the time on the
	// network.
	margin time.Duration
	// longest is the longest Retry-After: the window, the rest of a slot and the margin, in
	// whole seconds.
	longest time.Duration
	// patience is the longest Retry-After of callers who share a subject: one window more.
	patience time.Duration
}

var slotLog = rules{
	slot:     500 * time.Millisecond,
	window:   120,
	fresh:    130,
	settled:  60,
	small:    60,
	oldest:   3900,
	ring:     4096,
	attempts: 10,
	margin:   100 * time.Millisecond,
	longest:  61 * time.Second,
	patience: 121 * time.Second,
}

func (r rules) at(t time.Time) slot { return slot(t.UnixMilli() / r.slot.Milliseconds()) }

// expiry is the instant from which a slot's requests no longer count.
func (r rules) expiry(s slot) time.Time {
	return time.UnixMilli(int64(s+r.window+1) * r.slot.Milliseconds())
}

// retryAfter is the wait until an instant, in whole seconds from 1 to 61.
func (r rules) retryAfter(now, free time.Time) time.Duration {
	wait := (free.Sub(now) + r.margin + time.Second - 1).Truncate(time.Second)
	return min(max(wait, time.Second), r.longest)
}
