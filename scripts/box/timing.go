package box

import "time"

// A Timing says how a box spaces its calls. Every wait is up to a tenth shorter or longer, so that boxes do not stay in
// step.
type Timing struct {
	// Start is how long after its start a box makes its first poll, at the most: boxes that are switched on together
	// spread their first polls over it.
	Start time.Duration
	// Settle is how long a box waits before it polls after a ring or an activation. The service's containers keep a
	// channel for up to 2 s. A box that polls sooner may be told what was before the change, and the bell does not ring
	// again for it.
	Settle time.Duration
	// Retry is the wait after a call that failed. It doubles with each failure in a row, up to MostRetry.
	Retry, MostRetry time.Duration
	// Interval is the time between two calls of the bell until the bell says another one. What the bell says is kept
	// between the other two.
	Interval, LeastInterval, MostInterval time.Duration
	// Unheard is after how many intervals without an answer of the bell a box polls each Fallback.
	Unheard  int
	Fallback time.Duration
	// Second is how long a second of the service takes: a second, but for tests.
	Second time.Duration
	// Fresh is for how long an answer to a poll is ground enough to activate what it tells.
	Fresh time.Duration
}

// DefaultTiming is the timing of the reference client.
var DefaultTiming = Timing{
	Start: time.Minute, Settle: 3 * time.Second, Retry: time.Minute, MostRetry: 10 * time.Minute,
	Interval: 5 * time.Minute, LeastInterval: 10 * time.Second, MostInterval: time.Hour,
	Unheard: 10, Fallback: time.Hour, Second: time.Second, Fresh: 10 * time.Second,
}

// Scaled is the timing with every duration multiplied, also those that the service names. With a factor of 1/60, a minute
// takes a second. Only what the service asks for after a report or a refusal stays as it is.
func (t Timing) Scaled(factor float64) Timing {
	for _, d := range []*time.Duration{&t.Start, &t.Settle, &t.Retry, &t.MostRetry, &t.Interval, &t.LeastInterval, &t.MostInterval, &t.Fallback, &t.Second, &t.Fresh} {
		*d = time.Duration(float64(*d) * factor)
	}
	return t
}
