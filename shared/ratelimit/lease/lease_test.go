package lease

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A container is a holder and its clocks.
type container struct {
	Holder
	skew   time.Duration // of its wall clock
	asleep time.Duration // how long it was frozen in all
	wish   *Wish         // a write that is on its way
}

// A world is containers that share one limit.
type world struct {
	now        time.Duration // since epoch
	book       Book
	limit      int
	containers []*container
	writes     int
	calls      []time.Duration // when calls were admitted
}

func (w *world) at(c *container) Moment {
	return Moment{epoch.Add(w.now + c.skew), w.now - c.asleep}
}

// ask is one call at a container. With some chance, its write is on its way while others call.
func (w *world) ask(c *container, onItsWay bool) (admitted bool) {
	if c.wish != nil {
		return w.arrives(c)
	}
	if _, taken := c.Take(w.at(c)); taken {
		w.calls = append(w.calls, w.now)
		return true
	}
	for tries := range 10 {
		if _, refuses := c.Refuses(w.at(c)); refuses {
			return false
		}
		wish, more := c.Next(w.at(c), w.limit, tries > 0)
		if !more {
			return false
		}
		if c.wish = &wish; onItsWay {
			return false
		}
		if w.arrives(c) {
			return true
		}
	}
	return false
}

// arrives applies the write that is on its way.
func (w *world) arrives(c *container) bool {
	wish := *c.wish
	c.wish = nil
	w.writes++
	next, applied := w.book.Apply(wish.Write)
	w.book, c.Book = next, next
	if !applied {
		return false
	}
	_, taken := c.Leased(wish, w.at(c))
	if taken {
		w.calls = append(w.calls, w.now)
	}
	return taken
}

// most is the greatest number of calls in any time of a length.
func (w *world) most(length time.Duration) (most int) {
	first := 0
	for i, at := range w.calls {
		for at-w.calls[first] >= length {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// TestLease_AnyContainers_AreNeverOverTheLimit: their clocks differ by up to ±skew and jump in that range, they are frozen,
// thawed and lost, writes arrive late or without an answer, and calls are given back.
func TestLease_AnyContainers_AreNeverOverTheLimit(t *testing.T) {
	worlds, reached := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		worlds++
		between := func(least, most int) int { return rapid.IntRange(least, most).Draw(t, "") }
		w := &world{limit: between(1, 400)}
		skew := between(0, 5000)
		clock := func() time.Duration { return time.Duration(between(-skew, skew)) * time.Millisecond }
		for range between(1, 12) {
			w.containers = append(w.containers, &container{skew: clock()})
		}
		pauses := []int{5, 50, 400, 3000, 70_000}
		pause := pauses[between(0, 3)]
		for range 3000 {
			i := between(0, len(w.containers)-1)
			c := w.containers[i]
			passed := time.Duration(between(0, pause)) * time.Millisecond
			w.now += passed
			switch between(0, 99) {
			case 0:
				c.skew = clock()
			case 1:
				c.asleep += passed
			case 2:
				w.containers[i] = &container{skew: clock(), asleep: w.now}
			case 3:
				if c.wish != nil {
					w.arrives(c)
				}
				c.Lost()
			case 4:
				if number, taken := c.Take(w.at(c)); taken {
					w.ask(c, false)
					c.Return(number)
				}
			case 5:
				pause = pauses[between(0, 4)]
			default:
				w.ask(c, between(0, 9) == 0)
			}
		}
		length := time.Minute - 2*time.Duration(skew)*time.Millisecond
		most := w.most(length)
		expect.Must(t, most <= w.limit, "%d calls in %v, of %d", most, length, w.limit)
		if 10*most >= 9*w.limit {
			reached++
		}
		for end, n := range w.book.Ends {
			expect.Must(t, n >= 0, "%d calls end at %d", n, end)
		}
	})
	expect.That(t, 5*reached >= worlds, "only %d of %d worlds came near to their limit", reached, worlds)
}

// TestTake_AnyMoments_OnlyDuringTheLease: however a clock is set while the container is awake, and however long it is frozen.
func TestTake_AnyMoments_OnlyDuringTheLease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Holder
		at := Moment{epoch, 0}
		wish, _ := h.Next(at, 1_000_000, true)
		h.Leased(wish, at)
		began, lasts := at, wish.lease.lasts
		for range 20 {
			step := time.Duration(rapid.IntRange(0, 40_000).Draw(t, "")) * time.Millisecond
			at.Wall = at.Wall.Add(step)
			switch rapid.IntRange(0, 2).Draw(t, "") {
			case 0: // frozen
			case 1:
				at.Awake += step
			case 2:
				at.Awake += step
				at.Wall = at.Wall.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, "")) * time.Second)
			}
			if _, taken := h.Take(at); taken {
				wall := at.Wall.Sub(began.Wall)
				expect.Must(t, at.Awake-began.Awake < lasts && wall >= 0 && wall < lasts, "taken %v after the lease, awake %v", wall, at.Awake-began.Awake)
			}
		}
	})
}

// TestReturn_AfterTheNextLease_GivesNothing, since the calls of the lease before were given back already.
func TestReturn_AfterTheNextLease_GivesNothing(t *testing.T) {
	w := &world{limit: 1000}
	c := &container{}
	w.ask(c, false)
	number, taken := c.Take(w.at(c))
	expect.Must(t, taken, "the lease has no call")
	c.Return(number)
	again, taken := c.Take(w.at(c))
	expect.Must(t, taken && again == number, "what was given back cannot be taken")
	wish, _ := c.Next(w.at(c), w.limit, true)
	c.wish = &wish
	w.arrives(c)
	left := c.left
	c.Return(number)
	expect.Equal(t, c.left, left, "of the next lease are left")
}

// traffic is the calls of boxes at containers.
type traffic struct {
	containers, limit, aMinute int
}

// play plays some minutes after the first two, and returns the part of the calls that was admitted and the writes of each.
func (x traffic) play(minutes int) (w *world, admitted, writes float64) {
	random := rand.New(rand.NewPCG(1, uint64(x.containers*x.limit+x.aMinute)))
	w = &world{limit: x.limit}
	for range x.containers {
		w.containers = append(w.containers, &container{})
	}
	asked, before, calls := 0, 0, 0
	warm := 3 * time.Minute
	for w.now = 0; w.now < warm+time.Duration(minutes)*time.Minute; {
		if w.now < warm {
			asked, before, calls = 0, w.writes, len(w.calls)
		}
		w.now += time.Duration(random.ExpFloat64() * float64(time.Minute) / float64(x.aMinute))
		asked++
		w.ask(w.containers[random.IntN(x.containers)], false)
	}
	made := len(w.calls) - calls
	return w, float64(made) / float64(min(asked, x.limit*minutes)), float64(w.writes-before) / float64(asked)
}
