package ddi

import (
	"time"

	"wavegate/shared/fleet/report"
)

// A DDI client does not say that its box booted back into the old system. Two things show it: the client begins the
// same action again, or the box keeps saying that it runs the old version.

// Details for a box that did not boot what it had written. Its client does not report that.
const (
	startedAgain = "The version was on disk, but the client started the same installation again."
	runsTheOld   = "The version was on disk, but the box still runs another one."
)

// written notes that the version is on disk.
func written(o *report.Offer, at time.Time) {
	if o.WrittenAt == nil && o.State != report.Installed && o.State != report.Reverted {
		o.WrittenAt = &at
	}
}

// beginsAgain reports whether feedback shows a new start of an action with its version on disk. The client may send
// other feedback before the reboot without a new start.
func (f Feedback) beginsAgain(r report.Row) bool {
	o := r.Offer
	return o.WrittenAt != nil && r.Running != o.Version && f.Progress == Beginning
}

// notBooted ends the attempt of a client that began again. The box is asked immediately what it runs: without a boot
// state, a client also begins again on the new version.
func (f Feedback) notBooted(r *report.Row, was report.Row) {
	f.Progress, f.Code, f.Detail = Broken, report.CodeBoot, startedAgain
	r.Offer.ErrorCode, r.Offer.ErrorDetail = "", ""
	f.fail(r, was)
	r.AskedAt = nil
}

// fallBack judges a box that says that it does not run the version on disk: immediately if it has rebooted into a third
// version, otherwise once it has had time to reboot.
func (s Statement) fallBack(r *report.Row, rebooted bool) {
	o := r.Offer
	if o.WrittenAt == nil || s.Running == o.Version {
		return
	}
	late := s.DecideWithin > 0 && s.At.Sub(*o.WrittenAt) >= s.DecideWithin
	if !rebooted && !late {
		if r.Written == "" {
			o.StatedAt = &s.At
		}
		return
	}
	o.State, o.Code, o.Detail, o.From, o.Until = report.Reverted, report.CodeBoot, runsTheOld, s.Running, nil
	o.WrittenAt, o.StatedAt, o.RetryAt = nil, nil, nil
	if r.Written == o.Version {
		r.Written = ""
	}
	if r.Cancel == o.Action {
		r.Cancel = 0
	}
}
