package report

import "time"

// A DDI client does not say that its box booted back into the old system. Two things show it: the client begins the
// same action again, or the box keeps saying that it runs the old version.

// Details for a box that did not boot what it had written. Its client does not report that.
const (
	startedAgain = "The version was on disk, but the client started the same installation again."
	runsTheOld   = "The version was on disk, but the box still runs another one."
)

// written notes that the version is on disk.
func (o *Offer) written(at time.Time) {
	if o.WrittenAt == nil && o.State != Installed && o.State != Reverted {
		o.WrittenAt = &at
	}
}

// beganAgain reports whether feedback shows a new start of an action with its version on disk. The client may send
// other feedback before the reboot without a new start.
func (r Row) beganAgain(f Feedback) bool {
	o := r.Offer
	return o.WrittenAt != nil && r.Running != o.Version && f.Progress == Beginning
}

// notBooted ends the attempt of a client that began again. The box is asked immediately what it runs: without a boot
// state, a client also begins again on the new version.
func (r *Row) notBooted(f Feedback, was Row) {
	f.Progress, f.Code, f.Detail = Broken, CodeBoot, startedAgain
	r.Offer.ErrorCode, r.Offer.ErrorDetail = "", ""
	r.fail(f, was)
	r.AskedAt = nil
}

// fallBack judges a box that says that it does not run the version on disk: immediately if it has rebooted into a third
// version, otherwise once it has had time to reboot.
func (r *Row) fallBack(s Statement, rebooted bool) {
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
	o.State, o.Code, o.Detail, o.From, o.Until = Reverted, CodeBoot, runsTheOld, s.Running, nil
	o.WrittenAt, o.StatedAt, o.RetryAt = nil, nil, nil
	if r.Written == o.Version {
		r.Written = ""
	}
	if r.Cancel == o.Action {
		r.Cancel = 0
	}
}
