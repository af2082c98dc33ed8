package main

import (
	"math/rand/v2"
	"time"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/operations"
)

// A pattern is how requests of one subject come.
type pattern struct {
	name       string
	containers int
	// only is the limiter that alone is measured, where the others have nothing that corresponds.
	only         string
	organization string
	class        operations.LimitClass
	run          func(*world)
}

// step is the time for which clocks stand still.
const step = 100 * time.Millisecond

var patterns = []pattern{
	{name: "ordinary, at half the limit", containers: 10, run: paced(0.5)},
	{name: "ordinary, at 95 % of the limit", containers: 10, run: paced(0.95)},
	{name: "a person: user and organization", containers: 10, only: "slot log", organization: "acme", run: paced(0.95)},
	{name: "a person's copilot calls", containers: 10, only: "slot log", organization: "globex", class: operations.Copilot, run: paced(0.95)},
	{name: "a poll a minute", containers: 10, run: polls},
	{name: "all of it around the edge of a minute", containers: 50, run: straddle},
	{name: "greedy, 48 a second", containers: 50, run: rate(4.8, 150*time.Second)},
	{name: "greedy, 10 callers, 100 a second", containers: 10, run: rate(10, 65*time.Second)},
	{name: "greedy, 50 callers, 500 a second", containers: 50, run: rate(50, 30*time.Second)},
	{name: "greedy, 100 callers, 1,000 a second", containers: 100, run: rate(100, 20*time.Second)},
	{name: "flood, 5,000 a second", containers: 100, only: "slot log", run: rate(500, 30*time.Second)},
	{name: "patient: waits Retry-After", containers: 10, run: patient},
	{name: "honest: the limit at once, every 60.5 s", containers: 50, run: honest},
}

// paced sends at random times, so many in the mean, and never more in 60 s than the share.
func paced(share float64) func(*world) {
	return func(w *world) {
		due := 0.0
		for range int(3 * ratelimit.Window / step) {
			due += share * limit * float64(step) / float64(ratelimit.Window) * 2 * rand.Float64()
			n := int(due)
			due -= float64(n)
			w.atOnce(min(n, limit-w.within(ratelimit.Window+time.Second)))
			w.now = w.now.Add(step)
		}
	}
}

// polls is a box: a request a minute, give or take, for three hours.
func polls(w *world) {
	for range 180 {
		w.atOnce(1)
		w.now = w.now.Add(58*time.Second + rand.N(4*time.Second))
	}
}

// straddle sends the limit just before a minute ends and again just after it began.
func straddle(w *world) {
	for range 3 {
		w.now = w.now.Truncate(time.Minute).Add(2*time.Minute - 200*time.Millisecond)
		w.atOnce(limit)
		w.now = w.now.Add(400 * time.Millisecond)
		w.atOnce(limit)
	}
}

// rate sends so many in every step.
func rate(perStep float64, d time.Duration) func(*world) {
	return func(w *world) {
		due := 0.0
		for range int(d / step) {
			due += perStep
			w.atOnce(int(due))
			due -= float64(int(due))
			w.now = w.now.Add(step)
		}
	}
}

// patient is a client that sends as fast as it may and waits as long as it is told.
func patient(w *world) {
	for range 20 {
		w.atOnce(limit / 2)
		for r := w.one(); ; r = w.one() {
			if !r.admitted {
				w.now = w.now.Add(r.wait)
				w.waits++
				if w.one().admitted {
					w.kept++
				}
				break
			}
			w.now = w.now.Add(10 * time.Millisecond)
		}
	}
}

// honest keeps to the limit exactly.
func honest(w *world) {
	for range 4 {
		w.atOnce(limit)
		w.refused = w.rejected
		w.now = w.now.Add(ratelimit.Window + 500*time.Millisecond)
	}
	w.isHonest = true
}
