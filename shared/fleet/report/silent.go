package report

import "time"

// leastSilence is how long a box may be away before it is called silent.
const leastSilence = 10 * time.Minute

// SilentAfter is how long a box is unheard of before it is called silent, for boxes that are asked to
// poll at an interval.
func SilentAfter(pollInterval time.Duration) time.Duration { return max(leastSilence, 5*pollInterval) }

// Awaited reports whether a box with the offer is expected to be heard of: it was offered a version, works
// on it or runs it. One that has failed or fell back is decided, and one that a person put off may be
// switched off.
func (o Offer) Awaited() bool {
	return o.State == Offered || o.State == Working || o.State == Installed
}

// Silent reports whether a box is silent: it came to its state at least after ago and was not seen since
// that long. So a box that reports success and dies is silent, too. A box of which it is not known when
// it was last seen is never called silent.
func (o Offer) Silent(lastSeen, now time.Time, after time.Duration) bool {
	return o.Awaited() && !lastSeen.IsZero() && now.Sub(o.Since) >= after && now.Sub(lastSeen) >= after
}
