package box_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/cohort"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const year = 365 * 24 * time.Hour

// shares are the parts of a channel's boxes that each stage adds.
var shares = [4]float64{0.01, 0.09, 0.40, 0.50}

// A fleet generates residents of a channel.
type fleet struct {
	watched [4]float64 // the share of each stage's boxes that is watched
}

// newFleet applies the service's rule to many names.
func newFleet(boxes float64) fleet {
	const asked = 20_000
	f := fleet{}
	sizes := bell.Sizes{}
	for i, percent := range cohort.Stages {
		sizes[percent] = int(boxes * shares[i])
	}
	for i, percent := range cohort.Stages {
		for n := range asked {
			if sizes.Watched(fmt.Sprintf("box-%06d", n), percent) {
				f.watched[i] += 1.0 / asked
			}
		}
	}
	return f
}

func (f fleet) resident(random *rand.Rand, releases int) *resident {
	r := &resident{}
	for range releases {
		stage, drawn := 0, random.Float64()
		for stage < 3 && drawn >= shares[stage] {
			drawn -= shares[stage]
			stage++
		}
		r.stage = append(r.stage, stage)
		r.watched = append(r.watched, random.Float64() < f.watched[stage])
	}
	return r
}

// play returns the mean calls of a box in the year.
func (f fleet) play(s service, boxes int) calls {
	var sum calls
	var mu sync.Mutex
	var all sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := range next {
				random := rand.New(rand.NewPCG(uint64(i), 2))
				l := newLife(&s, f.resident(random, len(s.releases)), uint64(i), begin)
				l.until(begin.Add(year))
				mu.Lock()
				sum.add(l.calls)
				mu.Unlock()
			}
		})
	}
	for i := range boxes {
		next <- i
	}
	close(next)
	all.Wait()
	n := 1 / float64(boxes)
	return calls{sum.Bells * n, sum.Polls * n, sum.Unneeded * n, sum.Reports * n, sum.Installed * n}
}

// A halt is the outcome of a rollout that was halted while its boxes were told of it.
type halt struct {
	boxes, told, downloaded, activated int
	lastTold, lastActivated            time.Duration // after the halt
}

// playHalt halts a rollout that reaches all boxes, some time after it began.
func playHalt(boxes int, after time.Duration) halt {
	r := release{began: begin.Add(24 * time.Hour), halted: true}
	for i := range r.reached {
		r.reached[i] = r.began
	}
	r.over = r.began.Add(after)
	s := service{interval: idleInterval, heartbeat: heartbeat}
	s.releases, s.changes = []release{r}, []time.Time{r.began, r.over}
	h := halt{boxes: boxes, lastTold: -after, lastActivated: -after}
	random, everyone := rand.New(rand.NewPCG(1, 3)), newFleet(float64(boxes))
	for i := range boxes {
		l := newLife(&s, everyone.resident(random, 1), uint64(i), begin)
		l.until(r.over.Add(12 * time.Hour))
		if l.toldAt.IsZero() {
			continue
		}
		h.told++
		h.lastTold = max(h.lastTold, l.toldAt.Sub(r.over))
		switch {
		case l.runs == 1:
			h.activated++
			h.lastActivated = max(h.lastActivated, l.activatedAt.Sub(r.over))
		case l.holds:
			h.downloaded++
		}
	}
	return h
}

// idle returns the calls of a day without changes, after the boxes have settled.
func idle(boxes int) calls {
	s := service{interval: idleInterval, heartbeat: heartbeat}
	var sum calls
	for i := range boxes {
		l := newLife(&s, &resident{}, uint64(i), begin)
		l.until(begin.Add(time.Hour))
		l.calls = calls{}
		l.until(begin.Add(25 * time.Hour))
		sum.add(l.calls)
	}
	return sum
}
