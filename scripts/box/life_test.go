package box_test

import (
	"math/rand/v2"
	"time"

	"wavegate/scripts/box"
)

// Calls counts the calls of one box.
type calls struct {
	Bells     float64
	Polls     float64 // all
	Unneeded  float64 // polls that no ring, heartbeat, download or installation caused
	Reports   float64
	Installed float64 // releases
}

func (c *calls) add(o calls) {
	c.Bells += o.Bells
	c.Polls += o.Polls
	c.Unneeded += o.Unneeded
	c.Reports += o.Reports
	c.Installed += o.Installed
}

// failing is the share of first attempts that fail.
const failing = 0.02

// A life is a box that follows the client's decisions.
type life struct {
	*service
	*resident
	random *rand.Rand
	state  box.State
	now    time.Time
	runs   int
	last   telling
	since  time.Time // the last poll
	asked  bool      // something other than the interval caused the next poll
	ends   time.Time // of the download
	calls  calls

	offeredAt           time.Time // when it was first offered the present version
	toldAt, activatedAt time.Time // when it was last told another version than it runs, and when it last activated one
	holds               bool      // it has a download that it has not activated
}

func newLife(s *service, r *resident, seed uint64, from time.Time) *life {
	l := &life{service: s, resident: r, random: rand.New(rand.NewPCG(seed, 1)), now: from, asked: true}
	l.state = box.State{Timing: box.DefaultTiming, Random: l.random.Float64}
	l.state.Started(versions[0], from)
	return l
}

// until runs the box up to a time.
func (l *life) until(end time.Time) {
	for {
		a := l.state.Next(l.now)
		if a.Deed == box.Wait && !a.Until.Before(end) && (l.state.Fetching() == "" || !l.ends.Before(end)) {
			l.now = end
			return
		}
		l.do(a)
	}
}

func (l *life) do(a box.Action) {
	switch a.Deed {
	case box.Wait:
		if l.state.Fetching() != "" && !l.ends.After(a.Until) {
			l.now = l.ends
			l.state.Fetched(l.now)
			l.asked, l.holds = true, true
			return
		}
		l.now = a.Until
	case box.Listen:
		l.listen()
	case box.Poll:
		l.poll()
	case box.Fetch:
		l.state.Fetch()
		l.ends = l.now.Add(2*time.Minute + time.Duration(l.random.Int64N(int64(8*time.Minute))))
	case box.Activate:
		l.state.Activating()
		l.asked, l.holds = true, false
		if l.random.Float64() < failing {
			l.state.Attempt(box.Report{Outcome: box.Failed, Code: "install"}, l.now)
			return
		}
		l.activatedAt, l.runs = l.now, l.last.version
		l.calls.Installed++
		l.state.Activated(l.now)
	case box.Tell:
		l.calls.Reports++
		l.state.Advised(box.Advice{RetryAfter: 5 * time.Minute}, l.now)
		l.asked = true
	}
}

func (l *life) listen() {
	l.calls.Bells++
	sound, interval := l.ring(stale(l.now, l.random))
	if l.state.RingTag() == sounds[sound] {
		l.state.Unchanged(interval, l.now)
		return
	}
	l.state.Heard(box.Ring{Sound: sounds[sound], Tag: sounds[sound], Interval: interval}, l.now)
	l.asked = true
}

func (l *life) poll() {
	seen := stale(l.now, l.random)
	if l.last.version == l.runs {
		l.offeredAt = seen
	}
	t := l.tell(l.resident, l.runs, seen, l.offeredAt)
	l.calls.Polls++
	retry := l.state.Memory.NotBefore
	if again := retry.After(l.since) && !retry.After(l.now); !again && !l.asked && l.now.Sub(l.since) < l.last.interval*9/10 {
		l.calls.Unneeded++
	}
	l.asked, l.since = false, l.now
	if t.version != l.runs {
		l.toldAt = l.now
	}
	if l.state.Tag() != "" && t == l.last {
		l.state.NotModified(versions[l.runs], l.now)
		return
	}
	l.last = t
	l.state.Told(t.manifest(), "tag", versions[l.runs], l.now)
}
