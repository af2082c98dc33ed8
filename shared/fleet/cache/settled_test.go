package cache

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/expect"
)

// A machine is a container that answers one poll at a time. Its monotonic clock may stand still while it is frozen between
// polls, or its wall clock may be set at any moment.
type machine struct {
	*Of[release.ChannelRow]
	freezes, jumps bool
	at             instant
	busy           time.Duration // until when it answers its last poll
	read           time.Duration // when the store answers the poll that it serves
}

// A changing is a channel whose nth change is committed at a time, and answered settle later or somewhat after that.
type changing struct {
	committed, answered []time.Duration
	random              *rand.Rand
}

func newChanging(changes int, settle time.Duration) *changing {
	c, at := &changing{random: rand.New(rand.NewPCG(1, uint64(changes)))}, time.Minute
	for range changes {
		at += c.upTo(5 * time.Second)
		c.committed = append(c.committed, at)
		c.answered = append(c.answered, at+settle+c.upTo(50*time.Millisecond))
	}
	return c
}

func (c *changing) upTo(d time.Duration) time.Duration {
	return time.Duration(c.random.Int64N(int64(d)))
}

// last is how many of some times have passed.
func last(times []time.Duration, at time.Duration, from int) int {
	for from < len(times) && times[from] <= at {
		from++
	}
	return from
}

// machines are five containers of get-manifest, of the door and of each function of DDI clients.
func (c *changing) machines() (all []*machine) {
	for i := range 5 * 8 {
		m := &machine{freezes: i%5 > 2, jumps: i%5 == 2, at: instant{wall: noon}}
		m.Of = newAt(func() instant { return m.at }, func(context.Context, string, string) (release.ChannelRow, error) {
			return release.ChannelRow{Channel: release.Channel{Revision: int64(last(c.committed, m.read, 0))}}, nil
		})
		all = append(all, m)
	}
	return all
}

// polls lets boxes poll without pause, and counts the polls and those that were sent after the answer to a change and told
// what was there before it.
func (c *changing) polls(t *testing.T, keep time.Duration) (all, otherwise int) {
	machines, answered := c.machines(), 0
	var now time.Duration
	for now < c.answered[len(c.answered)-1]+time.Second {
		step := c.upTo(5 * time.Millisecond)
		now += step
		answered = last(c.answered, now, answered)
		for _, m := range machines {
			m.at.wall = m.at.wall.Add(step)
			if !m.freezes || m.busy > now {
				m.at.monotonic += step
			}
			if m.jumps && c.random.IntN(2000) == 0 {
				m.at.wall = m.at.wall.Add(c.upTo(2*time.Minute) - time.Minute)
			}
		}
		m := machines[c.random.IntN(len(machines))]
		if m.busy > now {
			continue
		}
		m.busy = now + c.upTo(100*time.Millisecond)
		m.read = now + c.upTo(m.busy-now+1)
		row, err := m.Get(t.Context(), "gateway-x", "stable", keep)
		expect.OK(t, err)
		if all++; int(row.Revision) < answered {
			otherwise++
		}
	}
	return all, otherwise
}

// TestCache_PollSentAfterAChangeIsAnswered_IsToldIt: changes are answered when no container keeps a row from before.
func TestCache_PollSentAfterAChangeIsAnswered_IsToldIt(t *testing.T) {
	changes := expect.Long(60, 2000)
	all, otherwise := newChanging(changes, 2*time.Second).polls(t, 2*time.Second)
	t.Logf("%d changes: %d polls, %d told otherwise", changes, all, otherwise)
	expect.That(t, all > 100*changes && otherwise == 0, "%d of %d polls were told otherwise", otherwise, all)
	all, otherwise = newChanging(60, 1900*time.Millisecond).polls(t, 2*time.Second)
	expect.That(t, otherwise > 0, "answered earlier, none of %d polls was told otherwise, so the test shows nothing", all)
}
