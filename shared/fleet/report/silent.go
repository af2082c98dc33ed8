package report

import "time"

// leastSilence is how long a box may be away before it counts as silent.
const leastSilence = 10 * time.Minute

// SilentAfter is how long a box that should poll at an interval may be unheard from before it counts as silent.
func SilentAfter(pollInterval time.Duration) time.Duration { return max(leastSilence, 5*pollInterval) }

// Awaited reports whether a box with the offer is expected to call: it was offered a version, is working on it or runs
// it. A box that failed or fell back is decided, and a deferred one may be switched off.
func (o Offer) Awaited() bool {
	return o.State == Offered || o.State == Working || o.State == Installed
}

// Silent reports whether a box is silent: it entered its state and was last seen at least after ago. So a box that
// reports success and dies is silent, too. A box whose last call is unknown never counts as silent.
func (o Offer) Silent(lastSeen, now time.Time, after time.Duration) bool {
	return o.Awaited() && !lastSeen.IsZero() && now.Sub(o.Since) >= after && now.Sub(lastSeen) >= after
}
