package box

import "time"

// A Timing sets the intervals of a box's calls. Every wait is up to a tenth shorter or longer, so that boxes do not
// stay in step.
type Timing struct {
	// Start is the longest time from the start of a box to its first poll. Boxes that are switched on together spread
	// their first polls over it.
	Start time.Duration
	// Settle is how long a box waits before it polls after a ring or an activation. The service's containers cache a
	// channel for up to 2 s. A box that polls sooner may get the state before the change, and the bell does not ring
	// again for it.
	Settle time.Duration
	// Retry is the wait after a call that failed. It doubles with each failure in a row, up to MostRetry.
	Retry, MostRetry time.Duration
	// Interval is the time between two calls of the bell until the bell sets another one. The bell's value is limited by
	// the other two.
	Interval, LeastInterval, MostInterval time.Duration
	// Unheard is the number of intervals without an answer of the bell after which a box polls every Fallback.
	Unheard  int
	Fallback time.Duration
	// Second is the length of one of the service's seconds; tests shorten it.
	Second time.Duration
	// Fresh is how long after a poll its answer still allows the activation.
	Fresh time.Duration
}

// DefaultTiming is the timing of the reference client.
var DefaultTiming = Timing{
	Start: time.Minute, Settle: 3 * time.Second, Retry: time.Minute, MostRetry: 10 * time.Minute,
	Interval: 5 * time.Minute, LeastInterval: 10 * time.Second, MostInterval: time.Hour,
	Unheard: 10, Fallback: time.Hour, Second: time.Second, Fresh: 10 * time.Second,
}

// Scaled returns the timing with every duration multiplied, including those that the service sets. With a factor of
// 1/60, a minute takes a second. Only the waits that the service asks for after a report or a refusal stay unchanged.
func (t Timing) Scaled(factor float64) Timing {
	for _, d := range []*time.Duration{&t.Start, &t.Settle, &t.Retry, &t.MostRetry, &t.Interval, &t.LeastInterval, &t.MostInterval, &t.Fallback, &t.Second, &t.Fresh} {
		*d = time.Duration(float64(*d) * factor)
	}
	return t
}
