package main

import (
	"math/rand/v2"
	"time"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/operations"
)

// A pattern is how the requests of one subject arrive.
type pattern struct {
	name         string
	containers   int
	organization string // of a person; empty: a box
	class        operations.LimitClass
	run          func(*world)
}

// step is how long the clock stands still.
const step = 100 * time.Millisecond

var patterns = []pattern{
	{name: "ordinary, at half the limit", containers: 10, run: paced(0.5)},
	{name: "ordinary, at 95 % of the limit", containers: 10, run: paced(0.95)},
	{name: "a person: user and organization", containers: 10, organization: "acme", run: paced(0.95)},
	{name: "a person's copilot calls", containers: 10, organization: "globex", class: operations.Copilot, run: paced(0.95)},
	{name: "a poll a minute", containers: 10, run: polls},
	{name: "all of it around the edge of a minute", containers: 50, run: straddle},
	{name: "greedy, 48 a second", containers: 50, run: rate(4.8, 150*time.Second)},
	{name: "greedy, 10 callers, 100 a second", containers: 10, run: rate(10, 65*time.Second)},
	{name: "greedy, 50 callers, 500 a second", containers: 50, run: rate(50, 30*time.Second)},
	{name: "greedy, 100 callers, 1,000 a second", containers: 100, run: rate(100, 20*time.Second)},
	{name: "flood, 5,000 a second", containers: 100, run: rate(500, 30*time.Second)},
}

// paced sends at random times: a share of the limit on average, and never more than the limit in 60 s.
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

// polls is a box: about one request a minute, for three hours.
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

// rate sends a number of requests in every step.
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
