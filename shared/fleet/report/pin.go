package report

import (
	"time"

	"wavegate/shared/trail/audit"
)

// A Pin keeps a box on a version until a time, whatever its channel says.
type Pin struct {
	Version string       `json:"version"`
	Reason  string       `json:"reason"`
	Until   time.Time    `json:"until"` // the first instant at which it no longer holds
	At      time.Time    `json:"at"`    // since when
	By      audit.Person `json:"by"`
}

// Holds reports whether there is a pin that has not ended.
func (p *Pin) Holds(now time.Time) bool { return p != nil && now.Before(p.Until) }

// repins reports whether a registration pins the box to another version than a rollout offered it.
func (r Row) repins(next Row) bool {
	return next.Pin != nil && next.Pin.Version != r.Offer.Version &&
		(r.Pin == nil || r.Pin.Version != next.Pin.Version || !r.Pin.At.Equal(next.Pin.At))
}
