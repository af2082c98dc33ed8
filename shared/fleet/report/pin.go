package report

import (
	"time"

	"wavegate/shared/trail/audit"
)

// A Pin keeps a box on a version until a time, whatever its channel says.
type Pin struct {
	Version string       `json:"version"`
	Reason  string       `json:"reason"`
	Until   time.Time    `json:"until"`                // the first instant at which it no longer holds
	At      time.Time    `json:"at" stored:"identity"` // since when
	By      audit.Person `json:"by"`
}

// Holds reports whether there is a pin that has not ended.
func (p *Pin) Holds(now time.Time) bool { return p != nil && now.Before(p.Until) }

// A Hold says since when a box keeps what it runs while its channel has an older release, and who moved or unpinned it
// then. A later publication on the channel ends it.
type Hold struct {
	Since time.Time    `json:"since" stored:"identity"`
	By    audit.Person `json:"by"`
}

// Holding is the hold of a box with a pin and a hold at a time; nil: there is none. The end of a pin begins one.
func Holding(pin *Pin, hold *Hold, now time.Time) *Hold {
	if pin == nil || pin.Holds(now) || hold != nil && hold.Since.After(pin.Until) {
		return hold
	}
	return &Hold{pin.Until, pin.By}
}

// repins reports whether a registration pins the box to another version than a rollout offered it.
func (r Row) repins(next Row) bool {
	return next.Pin != nil && next.Pin.Version != r.Offer.Version &&
		(r.Pin == nil || r.Pin.Version != next.Pin.Version || !r.Pin.At.Equal(next.Pin.At))
}
