package ddi

import (
	"strconv"
	"time"

	"wavegate/shared/fleet/report"
)

// The polls of a DDI box do not say what it runs, and deployments are told to it as numbered actions. The row holds
// both the version and the action. An action is one attempt at an offer. Its number is the revision of the row that
// made it. So a box's numbers never repeat, and a poll with the same answer gets the same number without a write.

// deployment is the number of the action that a box is told to carry out at a time; 0: none. A closed action is not
// told again. Neither is a version that the box has fallen back from: its client would install it again and again.
func deployment(r report.Row, at time.Time) int64 {
	o := r.Offer
	if o == nil || o.Version != r.Told || o.Action == r.Cancel || !open(r, at) {
		return 0
	}
	return o.Action
}

// open reports whether the offer's action may be told now, or was told and is not closed.
func open(r report.Row, at time.Time) bool {
	o := r.Offer
	if o.Action == 0 || o.Cancelled || o.Version == r.Written || o.Version == r.Running {
		return false
	}
	switch o.State {
	case report.Installed, report.Reverted:
		return false
	case report.Failed:
		return o.RetryAt != nil && !at.Before(*o.RetryAt)
	}
	return true
}

// cancelPatience is how long a box is asked to give up an action before it is told another one. A client that has just
// finished may never answer.
const cancelPatience = time.Hour

// cancellation is the number of the action that a box is asked to give up at a time; 0: none.
func cancellation(r report.Row, at time.Time) int64 {
	if deployment(r, at) != 0 && at.Sub(r.Offer.Since) >= cancelPatience {
		return 0
	}
	return r.Cancel
}

// A polled is a client's poll and its answer. Such a poll does not say what the box runs.
type polled struct {
	report.Polled
	// had is what the box had by the row that the answer was decided on. If the box has reported something else
	// meanwhile, the poll changes nothing.
	had string
}

func (p polled) Change(next *report.Row, was report.Row) {
	if was.Has() != p.had {
		return
	}
	next.DDI = true
	p.Take(next, was)
	p.act(next, was)
	next.Turn(p.Polled, deployment(*next, p.At) != 0)
	next.Stamp(was, p.At)
	ask(next, p.At)
}

// act updates a row's actions for what a poll tells. A box that is no longer told the offer, or is told another one, is
// asked to give up the action that it may have begun.
func (p polled) act(r *report.Row, was report.Row) {
	if was.Offer != nil && was.Cancel == 0 && open(was, p.At) && (p.Told != was.Offer.Version || !was.Offer.Is(*r.Offer)) {
		r.Cancel = was.Offer.Action
	}
	o := r.Offer
	if o == nil {
		return
	}
	number := was.Revision + 1
	if o.Action == 0 {
		o.Action = number
	}
	if p.Told != o.Version {
		return
	}
	if r.Cancel == o.Action {
		r.Cancel = 0
	}
	if o.Cancelled {
		o.Action, o.Cancelled, o.ErrorCode, o.ErrorDetail, o.WrittenAt, o.StatedAt = number, false, "", "", nil, nil
	}
}

// A Contact is the first poll of a DDI box. The box is asked what it runs before it is told a version, so that it does
// not install what it already has.
type Contact struct {
	Subject string
	At      time.Time
}

// When is the time of the call.
func (c Contact) When() time.Time { return c.At }

// Change notes that the box is asked.
func (c Contact) Change(next *report.Row, _ report.Row) {
	next.DDI, next.Subject, next.AskedAt = true, c.Subject, &c.At
}

// A Statement is what a DDI box says about itself.
type Statement struct {
	Running string // the version that the box runs; empty: it does not say
	Text    string // how it says that; see Boxes.State
	// Others are its other attributes. Mode says what happens with those that it has said before: merge, replace or remove.
	Others map[string]string
	Mode   string
	// DecideWithin is how long the box may take to boot what it has written; 0: no limit.
	DecideWithin time.Duration
	At           time.Time
}

// When is the time of the call.
func (s Statement) When() time.Time { return s.At }

// Change takes the box's attributes, and judges its offer by what it runs.
func (s Statement) Change(next *report.Row, was report.Row) {
	next.Say(s.said(was.Said))
	if s.Running == "" {
		return
	}
	next.Runs(s.Running, s.Text)
	rebooted := was.Running != "" && !was.Assumed && was.Running != s.Running
	if rebooted || was.Written == s.Running {
		next.Written = ""
	}
	if next.Offer == nil {
		return
	}
	// A DDI box is never told anything that its row does not record.
	next.Offer.Judge(was.Running, s.Running, false)
	s.fallBack(next, rebooted)
	if next.Offer.State == report.Installed && next.Cancel == next.Offer.Action {
		next.Cancel = 0
	}
}

// An ActionPhase says how far a DDI box is with an action, according to its client.
type ActionPhase string

// Phases of an action. None of them means that the box runs the version: a client may close an action when the version
// is on disk, and boot it later or never.
const (
	Proceeding ActionPhase = "proceeding"
	Beginning  ActionPhase = "beginning" // the first step of an installation
	PutOff     ActionPhase = "put-off"   // by the box or a person at the machine
	Placed     ActionPhase = "placed"    // on disk, and the client closes the action after the reboot
	Written    ActionPhase = "written"   // closed with success
	Broken     ActionPhase = "broken"    // closed with failure
	GivenUp    ActionPhase = "given-up"  // cancelled
	Refused    ActionPhase = "refused"   // the client goes on although it was asked to give up
)

// A Feedback is what a DDI box says about an action. It changes nothing if the action is closed, or no longer belongs
// to the box's offer.
type Feedback struct {
	Action   int64
	Progress ActionPhase
	// Code is set for Broken, and for Proceeding if the client names an error. If the action then fails, that error is the
	// reason: a RAUC client closes every failed installation with the same message.
	Code   report.FailureCode
	Detail string
	At     time.Time
}

// When is the time of the call.
func (f Feedback) When() time.Time { return f.At }

// Change takes feedback on the offer's action, or on one that the box was asked to give up.
func (f Feedback) Change(next *report.Row, was report.Row) {
	if f.Action == 0 || f.Action > was.Revision || f.elsewhere(was) {
		next.Hears(report.ByFeedback, "actionId", strconv.FormatInt(f.Action, 10))
		return
	}
	o := next.Offer
	if o == nil || o.Action != f.Action {
		if f.Action == next.Cancel && (f.Progress.closes() || f.Progress == Refused) {
			next.Cancel = 0 // of an earlier offer
		}
		return
	}
	if o.Cancelled {
		return
	}
	if f.Progress.closes() && next.Cancel == f.Action {
		next.Cancel = 0
	}
	if next.Written == o.Version && !f.Progress.closes() {
		// The client is not told a closed action again. It was told this one earlier, as happens to Hara, which polls while
		// it closes the action. So this is not a sign of a reboot.
		return
	}
	switch f.Progress {
	case Proceeding, Beginning:
		if f.beginsAgain(*next) {
			f.notBooted(next, was)
			return
		}
		work(o, "")
		if f.Code != "" {
			o.ErrorCode, o.ErrorDetail = f.Code, f.Detail
		}
	case PutOff:
		if !o.State.Decided() {
			o.State, o.Detail, o.Until = report.Deferred, f.Detail, nil
		}
	case Placed:
		work(o, "")
		written(o, f.At)
	case Written:
		next.Written = o.Version
		work(o, f.Detail)
		written(o, f.At)
	case GivenUp:
		o.Cancelled, o.WrittenAt, o.StatedAt = true, nil, nil
	case Broken:
		if o.WrittenAt != nil && f.Code == report.CodeOther {
			f.Code = report.CodeBoot // SWUpdate says so after the reboot, without a reason
		}
		f.fail(next, was)
	}
}

// elsewhere reports whether the action is one of the server that the box comes from. A box that was here before it was imported may have an
// open action with as low a number.
func (f Feedback) elsewhere(r report.Row) bool {
	return r.Imported != nil && f.Action <= r.Imported.ActionsAbove && f.Action != r.Cancel && (r.Offer == nil || f.Action != r.Offer.Action)
}

// closes reports whether the client has nothing more to do for the action.
func (p ActionPhase) closes() bool { return p == Written || p == GivenUp || p == Broken }

// work moves an undecided offer to Working.
func work(o *report.Offer, detail string) {
	if o.State == report.Offered || o.State == report.Deferred || o.State == report.Working && detail != "" {
		o.State, o.Detail, o.Until = report.Working, detail, nil
	}
}

// fail closes an action with a failure. The next attempt is a new action, told after the same wait as for other boxes.
// After the last attempt there is none.
func (f Feedback) fail(r *report.Row, was report.Row) {
	o := r.Offer
	if o.ErrorCode != "" {
		f.Code, f.Detail = o.ErrorCode, o.ErrorDetail
		o.ErrorCode, o.ErrorDetail = "", ""
	}
	outcome := report.Outcome{Version: o.Version, Attempt: max(o.Attempts, o.FailedAttempt+1), State: report.Failed, Code: f.Code, Detail: f.Detail, At: f.At}
	outcome.Take(r) // the action's number shows that it is the present attempt
	if r.Written == o.Version || r.Running != "" {
		r.Written = "" // the version on disk is no longer there
	}
	o.Action, o.RetryAt, o.WrittenAt, o.StatedAt = was.Revision+1, nil, nil, nil
	if answer := report.Reply(*r, outcome); !answer.GiveUp {
		at := f.At.Add(answer.RetryAfter).Truncate(time.Millisecond)
		o.RetryAt = &at
	}
}
