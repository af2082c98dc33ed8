// Package ratelimit holds the service's fair-use limits: no more than L requests of a subject are
// admitted in any 60 s, however they are spread over callers and containers.
//
// A subject is one user, one organization, or the copilot calls of one of them. Each has one item
// in the table rate-counters, the slot log: its requests of the last minute, counted in slots of
// 500 ms. A request is one conditional UpdateItem. The usual one adds blindly to the total and to
// the present slot while the total is under the limit, so that callers do not collide; when the
// condition fails, DynamoDB hands back the item, and what has expired is taken out of the total in
// the same write that counts the request (a roll), or the request is rejected without being counted.
//
// What holds, and which tests check by these numbers:
//
//  1. In any 60 s at most L requests of a subject are admitted; L + 60 with those that may use the
//     reserve (see Reserve).
//  2. A rejection means that at least L were admitted in the 60.5 s before it, or that there were so many
//     requests that DynamoDB throttled the subject's item.
//  3. Who waits the Retry-After it was given is admitted, if no one else takes the place.
//  4. The stored total is the sum of the stored slots, after every write.
//  5. Giving a request back undoes exactly that request.
//  6. Retry-After is between 1 s and 61 s.
//  7. With clocks that differ by up to ±d the first promise holds for any 60 s − 2d.
//  8. An item stays within 1 KB; a clock that jumps, a limit that is cut or raised while calls run,
//     and an item that lay idle for any time break none of these.
//  9. The newest slot of an item is that of the last request that was admitted.
//
// The first is exact for the clocks of the containers. A clock that jumps ahead makes time pass for
// everyone; one that jumps back makes a subject's count last up to a minute longer, never shorter.
//
// The pure part (rules, item, attempt) knows no store. Limiter adds the order of subjects, the
// memory of rejections, the reserve, the deadline and the breaker; counters.go speaks to DynamoDB.
package ratelimit

import "time"

// Window is the time over which a limit counts. It is part of the promise, not a setting.
const Window = time.Minute

// rules are the measures of the slot log. There is one set; tests bend them to see that the
// properties notice.
type rules struct {
	slot time.Duration
	// window is how many slots before the present one still count. The present slot is counted
	// whole, so a request counts for at least 60 s and less than 60.5 s.
	window slot
	// fresh is how far the base may lie back for a blind count. What has expired since stays in the
	// total meanwhile, so the total errs on the side of counting too much, for 5 s at most.
	fresh slot
	// settled is how far the base has to lie back at least. So a blind count never touches the slots
	// from base to base + settled, and a roll may forget those while others count.
	settled slot
	// small is the total up to which the base may lie back further than fresh: an item has at most
	// one slot for each request, so it stays small, and a caller of now and then never needs a roll.
	small int
	// oldest bounds that: names of slots come round after ring slots.
	oldest, ring slot
	// attempts bounds how often a request tries when its rolls collide.
	attempts int
	// spare is added to Retry-After for what clocks differ and requests travel.
	spare time.Duration
	// longest is the longest Retry-After: the window, the rest of a slot, and spare, in whole seconds.
	longest time.Duration
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
	spare:    100 * time.Millisecond,
	longest:  61 * time.Second,
}

// at is the slot of an instant.
func (r rules) at(t time.Time) slot { return slot(t.UnixMilli() / r.slot.Milliseconds()) }

// expiry is the instant from which a slot's requests no longer count.
func (r rules) expiry(s slot) time.Time {
	return time.UnixMilli(int64(s+r.window+1) * r.slot.Milliseconds())
}

// retryAfter is the wait, in whole seconds from 1 to 61, until an instant.
func (r rules) retryAfter(now, free time.Time) time.Duration {
	wait := (free.Sub(now) + r.spare + time.Second - 1).Truncate(time.Second)
	return min(max(wait, time.Second), r.longest)
}
