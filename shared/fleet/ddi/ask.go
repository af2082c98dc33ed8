package ddi

import (
	"time"

	"wavegate/shared/fleet/report"
)

// How often a box is asked what it runs. Its polls do not say so, and a RAUC client only says it when asked.
const (
	askedEvery = 24 * time.Hour
	// onTrial is how often a box that may fall back is asked, and trial is for how long after an installation.
	onTrial = time.Hour
	trial   = 24 * time.Hour
)

// ask notes that a poll asks what the box runs, if it is time for that and there is nothing else to tell.
func ask(r *report.Row, at time.Time) {
	if deployment(*r, at) == 0 && cancellation(*r, at) == 0 && (r.AskedAt == nil || at.Sub(*r.AskedAt) >= askEvery(*r, at)) {
		r.AskedAt = &at
	}
}

// askEvery is how often the box is asked now. A client without the attribute never says what the box runs.
func askEvery(r report.Row, at time.Time) time.Duration {
	if o := r.Offer; r.Running != "" && o != nil && o.State == report.Installed && at.Sub(o.Since) < trial {
		return onTrial
	}
	return askedEvery
}

// asked reports whether the poll at a time asks what the box runs, given the row after the poll and the time between
// polls. A box with a written version is asked at each poll, unless its client has never said what the box runs. So is one that
// comes from another server until it says that.
//
// A client that leaves its action open until the reboot is alternately asked and told. So a client that has booted the
// version says so before it is told to install it again.
func asked(r report.Row, at time.Time, interval time.Duration) bool {
	if cancellation(r, at) != 0 {
		return false
	}
	if deployment(r, at) == 0 {
		return r.AskedAt != nil && r.AskedAt.Equal(at) || r.Running != "" && r.Written != "" || r.Unproven()
	}
	o := r.Offer
	return r.Running != "" && o.WrittenAt != nil && (o.StatedAt == nil || at.Sub(*o.StatedAt) > interval+interval/2)
}
