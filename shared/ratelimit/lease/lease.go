// Package lease has the rules by which containers share one limit of an organization without a write for each call: a
// container takes a lease of some calls, and then counts them itself. The rules use no store and no clock.
//
// A lease lasts for a time, and the store counts its calls until 60 s after its end. A call happens before its lease ends, so
// every lease with a call in the same 60 s is still counted when another one is taken. So, in any 60 s, no more calls are
// admitted than the limit, whatever becomes of the containers: what a container has not used stays counted. If clocks differ
// by up to ±d, this holds for any 60 s − 2d. A clock that is set back while a container is awake does not make its lease
// longer, because a second clock bounds it, too.
//
// The price is that some calls are counted that nobody makes. So leases are long while the limit is far away, which saves
// writes, and short near to it.
package lease

import (
	"maps"
	"math"
	"slices"
	"time"
)

// window is for how many seconds after its end a lease is counted.
const window = 60

const (
	// grid are the seconds at which the ends of calm leases are counted, so that an item has few of them.
	grid = 5
	// memory is the time over which a container measures how often it is asked.
	memory = 15 * time.Second
	// share is the part of what is left that one lease may take.
	share = 8
	// mostExpired is how many ends are kept that no longer count. Removing them early makes writes collide.
	mostExpired = 32
	// refuseFor is how long a container refuses without asking again.
	refuseFor = 250 * time.Millisecond
	// backFor is how long after the end of a lease a container may still give back what it did not use.
	backFor = 30 * time.Second
)

// A term is how long a lease lasts while at most a part of the limit is leased, the first part, and not more than the second one
// with it.
type term struct {
	below, within float64
	lasts         time.Duration
	spare         float64 // how many times the measured rate it has
}

var terms = []term{
	{0.25, 0.5, 60 * time.Second, 1.6},
	{0.5, 0.75, 10 * time.Second, 1},
	{math.Inf(1), 1, 3 * time.Second, 1},
}

// A Moment is a time by a container's two clocks: the wall clock, which can be set, and one that runs only while the
// container is awake.
type Moment struct {
	Wall  time.Time
	Awake time.Duration
}

// A Book is what the store has of one organization: the leased calls, by the second in which their leases end.
type Book struct {
	Total int // the sum of Ends
	Ends  map[int64]int
}

// Used is how many calls count at a second.
func (b Book) Used(now int64) int {
	used := 0
	for end, n := range b.Ends {
		if end+window > now {
			used += n
		}
	}
	return used
}

// Free is the first second at which less than limit counts; one window from now if it is 0.
func (b Book) Free(now int64, limit int) int64 {
	used := b.Used(now)
	for _, end := range slices.Sorted(maps.Keys(b.Ends)) {
		if end+window <= now {
			continue
		}
		if used -= b.Ends[end]; used < limit {
			return end + window
		}
	}
	return now + window
}

// A Write is one conditional change to a book: it leases calls and gives others back. It is applied if the book's total is at
// most Most, if all of Expired are as they were read, and if what is given back is there.
type Write struct {
	Most    int
	Calls   int
	End     int64
	Back    int // of those that end at BackEnd
	BackEnd int64
	Expired map[int64]int
}

// Added is by how much the write changes the total.
func (w Write) Added() int {
	n := w.Calls - w.Back
	for _, gone := range w.Expired {
		n -= gone
	}
	return n
}

// Apply is what the store does with a write.
func (b Book) Apply(w Write) (next Book, applied bool) {
	if b.Total > w.Most || b.Ends[w.BackEnd] < w.Back {
		return b, false
	}
	next = Book{Total: b.Total + w.Added(), Ends: map[int64]int{}}
	maps.Copy(next.Ends, b.Ends)
	for end, n := range w.Expired {
		if b.Ends[end] != n {
			return b, false
		}
		delete(next.Ends, end)
	}
	if w.Back > 0 {
		next.Ends[w.BackEnd] -= w.Back
	}
	next.Ends[w.End] += w.Calls
	return next, true
}

// A Holder is what a container knows of one organization, and its lease. The zero Holder has none.
type Holder struct {
	// Book is as it was last read.
	Book Book

	lease   lease
	number  int     // of the lease
	left    int     // calls of it
	rate    float64 // of calls a second that are asked for, and when it was measured
	asked   time.Time
	refused time.Time // until when it refuses
	free    time.Time
}

// A lease is some calls for a time.
type lease struct {
	from  Moment
	lasts time.Duration
	end   int64 // as it is counted
}

// within reports whether less than a time has passed since the lease was taken, by both clocks.
func (l lease) within(at Moment, time time.Duration) bool {
	wall := at.Wall.Sub(l.from.Wall)
	return wall >= 0 && wall < time && at.Awake-l.from.Awake < time
}

// Take takes a call of the lease. It returns the lease's number, for Return, and reports whether there was a call.
func (h *Holder) Take(at Moment) (number int, taken bool) {
	if passed := at.Wall.Sub(h.asked); passed > 0 {
		h.rate *= math.Exp(-float64(passed) / float64(memory))
	}
	h.rate, h.asked = h.rate+1/memory.Seconds(), at.Wall
	return h.take(at)
}

func (h *Holder) take(at Moment) (number int, taken bool) {
	if h.left == 0 || !h.lease.within(at, h.lease.lasts) {
		return 0, false
	}
	h.left--
	return h.number, true
}

// Return gives back a call that was taken and not made, if its lease is still the present one.
func (h *Holder) Return(number int) {
	if number == h.number {
		h.left++
	}
}

// Refuses reports whether the container refuses without asking, and when it expects a place. A clock that is set back ends it.
func (h *Holder) Refuses(at Moment) (free time.Time, refuses bool) {
	left := h.refused.Sub(at.Wall)
	return h.free, left > 0 && left <= refuseFor
}

// A Wish is the write for a lease. Leased takes it once it is applied.
type Wish struct {
	Write
	lease lease
}

// Next is the wish for the next lease. It returns false if the limit is used up: then the holder refuses for a moment. fresh
// is set if the book was read just now; otherwise the store decides.
func (h *Holder) Next(at Moment, limit int, fresh bool) (Wish, bool) {
	now := at.Wall.Unix()
	w := Wish{}
	if h.left > 0 && h.lease.within(at, h.lease.lasts+backFor) && (!fresh || h.Book.Ends[h.lease.end] >= h.left) {
		w.Back, w.BackEnd = h.left, h.lease.end
	}
	used := h.Book.Used(now) - w.Back
	if limit <= 0 || used >= limit && fresh {
		h.free, h.refused = time.Unix(h.Book.Free(now, limit), 0), at.Wall.Add(refuseFor)
		return w, false
	}
	by := terms[slices.IndexFunc(terms, func(t term) bool { return float64(used) < t.below*float64(limit) })]
	most := int(by.within * float64(limit))
	w.Calls = max(1, min(int(h.rate*by.lasts.Seconds()*by.spare), (most-used)/share))
	w.End = at.Wall.Add(by.lasts + time.Second - 1).Unix()
	if by.lasts > grid*time.Second {
		w.End += (grid - w.End%grid) % grid
	}
	w.lease = lease{from: at, lasts: by.lasts, end: w.End}
	if gone := h.Book.expired(now); fresh && h.Book.Total-w.Back+w.Calls > most || len(gone) > mostExpired {
		w.Expired = gone
	}
	w.Most = max(most, 1) - w.Added()
	return w, true
}

// Leased begins the lease of a wish that was applied, and takes its first call. If the answer came after the end, there is none.
func (h *Holder) Leased(w Wish, at Moment) (number int, taken bool) {
	h.number++
	h.lease, h.left = w.lease, w.Calls
	return h.take(at)
}

// Lost drops what is left of the lease, after a write of which nobody knows whether it was applied: it may have been given back.
func (h *Holder) Lost() { h.left = 0 }

// expired are the ends that no longer count.
func (b Book) expired(now int64) map[int64]int {
	gone := map[int64]int{}
	for end, n := range b.Ends {
		if end+window <= now {
			gone[end] = n
		}
	}
	return gone
}
