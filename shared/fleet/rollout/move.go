package rollout

import (
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// A Move is a caller's request to raise a rollout, to set its status, or both. At least one of the two is given. A
// raise is not allowed together with Active.
type Move struct {
	StagedPercent *int   // one of cohort.Stages
	Status        Status // or empty
	// Without are the organizations that the rollout leaves out when it goes on; nil keeps them. It is given only with
	// Active.
	Without []string
	// Return is set if boxes that run the target are told the channel's version again. It is given only with Halted.
	Return bool
	// Urgent is set if plants need not be open for the target any more, or for the return. It is given alone or with Return.
	Urgent bool
	// Seen is set if people have seen that the rollout was halted, or tells no more boxes. It is given alone.
	Seen bool
	// Stop is set if the guard stops telling boxes, and says why.
	Stop guard.Reason
	// Young is set if the guard lets the boxes that were registered since the start go on by a stage of their own. YoungStop are
	// organizations of which it tells no more such boxes.
	Young     bool
	YoungStop []string
	// Judged is set for a halt and a stop by the guard: the revision of the policy that it judged the rollout by.
	Judged int64
}

// advances reports whether a freeze can refuse the move: a raise or a resumption.
func (m Move) advances() bool {
	return m.Status == Active || m.Young || m.StagedPercent != nil && m.Status != Halted
}

// A Moment is what a move depends on besides the rollout: who makes it, when and why, and the freeze at that time, or
// nil.
type Moment struct {
	By     audit.Person
	At     time.Time
	Freeze *freeze.Freeze
	audit.Grounds
}

// After applies a move to the rollout. It returns the next state and the event for the audit trail. The event is empty
// if nothing changes. A move that the status does not allow is INVALID_STATE_TRANSITION. Other moves may be FROZEN,
// APPROVAL_REQUIRED or WINDOW_CLOSED. A rollout that tells no more boxes goes on if a person resumes or raises it. A
// refused move changes nothing, not even in part.
//
// A person's halt is never refused, unless it also returns the rollout and no box is told the target because of it. A
// raise together with a completion is made first, and both are made or neither. A halted rollout can become active again
// at its stage, unless it was ever completed or returned. The store checks whether the channel still carries the rollout.
//
// A halt by the guard is PRECONDITION_FAILED if the rollout is not active under the policy that was judged.
func (r Rollout) After(m Move, now Moment) (next Rollout, event string, err error) {
	if m.Judged != 0 && (r.Status != Active || r.Terms == nil || r.Terms.Revision != m.Judged) {
		return r, "", problem.New(problem.PreconditionFailed, "The rollout has ended, or its policy has changed since it was judged.")
	}
	next = r
	if m.StagedPercent != nil && m.Status != Halted {
		if next.StagedPercent, err = r.raised(*m.StagedPercent); err != nil {
			return r, "", err
		}
	}
	if m.Status != "" {
		next.Status = m.Status
	}
	raises := next.StagedPercent != r.StagedPercent
	resumes := r.Status != Active && next.Status == Active
	goesOn := r.goesOn(m, next)
	returns := m.Return && r.ReturnedAt == nil
	steps := r.steps(m, raises)
	if steps {
		next.Young = r.Young.Beside(r.StagedPercent, now.At)
	}
	switch {
	case r.tellsFewer(m):
		return r.stops(m, now.At), "RolloutTellingStopped", nil
	case m.Seen:
		return r.marked(now)
	case m.Urgent && m.Status == "":
		return r.hastened(now)
	}
	next.Urgent = r.Urgent || m.Urgent && returns
	if !raises && !goesOn && !returns && !steps && next.Status == r.Status {
		return r, "", nil
	}
	if err := r.refuses(next, now, returns, resumes, raises || resumes || goesOn || steps); err != nil {
		return r, "", err
	}
	next = next.changed(r, now.At)
	if raises {
		next = next.promotedBy(now.By).reaches(now.At)
	}
	if raises || resumes {
		next.StageSince = now.At
	}
	if resumes || goesOn {
		next = next.resumedBy(m, now.At)
	}
	next = next.endedIn(r, now)
	next.Adopted = r.Adopted || r.adopts(next)
	if returns {
		next.ReturnedAt = &now.At
	}
	if goesOn && !raises {
		return next, "RolloutResumed", nil
	}
	return next, r.event(next), nil
}

// steps reports whether boxes that were registered since the start come a stage further.
func (r Rollout) steps(m Move, raises bool) bool {
	return r.Status == Active && (m.Young || raises && len(r.YoungAt) > 0)
}

// tellsFewer reports whether the guard has an active rollout tell fewer boxes.
func (r Rollout) tellsFewer(m Move) bool {
	return r.Status == Active && (m.Stop != "" && !r.Stopped() || m.YoungStop != nil)
}

// stops is an active rollout once the guard has it tell fewer boxes.
func (r Rollout) stops(m Move, at time.Time) Rollout {
	next := r
	if m.Stop != "" {
		next.Stop = Stop{m.Stop, &at}
	} else {
		next.Young = r.Young.StopFor(m.YoungStop)
	}
	return next.changed(r, at)
}

// refuses says why a move is refused, or nil.
func (r Rollout) refuses(next Rollout, now Moment, returns, resumes, advances bool) error {
	switch {
	case resumes && r.over() != nil:
		return r.over()
	case returns && r.Adopted:
		return problem.New(problem.InvalidStateTransition,
			"The rollout was adopted, so its target is the channel's version; publish the version that the boxes should have.")
	case advances:
		return r.barred(next, now)
	}
	return nil
}

// marked is the rollout once somebody has marked its trouble as seen. The first mark counts.
func (r Rollout) marked(now Moment) (next Rollout, event string, err error) {
	switch {
	case r.Status != Halted && !(r.Status == Active && r.Stopped()):
		return r, "", problem.New(problem.InvalidStateTransition, "The rollout is %s; only one that was halted or tells no more boxes can be marked as seen.", r.Status)
	case r.Marked():
		return r, "", nil
	}
	next = r.changed(r, now.At)
	next.Seen = &Mark{now.By, now.At}
	return next, "RolloutSeen", nil
}

// hastened is the rollout once plants need not be open for it. Where the policy asks for approvals, those who steered it
// may not do this alone. The contract of moves has no SELF_APPROVAL, so they get FORBIDDEN.
func (r Rollout) hastened(now Moment) (next Rollout, event string, err error) {
	switch {
	case r.Urgent:
		return r, "", nil
	case r.Status != Active && r.ReturnedAt == nil:
		return r, "", problem.New(problem.InvalidStateTransition, "The rollout is %s; only an active or a returned one can become urgent.", r.Status)
	case r.Terms != nil && len(r.Terms.Policy.Approvals.Before) > 0 && r.steered(now.By):
		return r, "", problem.New(problem.Forbidden,
			"The policy asks for approvals, so somebody else than who started the rollout, promoted it last or changed its policy last has to make it urgent.")
	}
	next = r.changed(r, now.At)
	next.Urgent = true
	return next, "RolloutHastened", nil
}

// over is why a rollout that ended cannot be resumed, or nil.
func (r Rollout) over() error {
	switch {
	case r.Status == Completed || r.CompletedAt != nil:
		return problem.New(problem.InvalidStateTransition, "The rollout was completed; start a new one.")
	case r.EndedBy == ByPublication:
		return outlived()
	case r.ReturnedAt != nil:
		return problem.New(problem.InvalidStateTransition, "The rollout was returned: its boxes are told the channel's version again; start a new one.")
	}
	return nil
}

// goesOn reports whether a move has an active rollout tell more boxes again, or leave out other organizations.
func (r Rollout) goesOn(m Move, next Rollout) bool {
	switch {
	case next.Status != Active:
		return false
	case m.Status == Active:
		return r.Stopped() || len(r.YoungStopped) > 0 || m.Without != nil && !slices.Equal(m.Without, r.Without)
	}
	return next.StagedPercent != r.StagedPercent && r.Stopped()
}

// resumedBy is the rollout that goes on after a move.
func (r Rollout) resumedBy(m Move, at time.Time) Rollout {
	r.EndedAt, r.EndedBy = nil, ""
	r.ResumedAt, r.Stop, r.Seen, r.YoungStopped = &at, Stop{}, nil, nil
	if m.Without != nil {
		r.Without = without(m.Without)
	}
	return r
}

// without is a list of organizations as it is stored: sorted, and nil if it is empty.
func without(ids []string) []string {
	list := slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(list) == 0 {
		return nil
	}
	return list
}

// barred returns why a freeze, a missing approval or a closed window refuses a raise or a resumption; nil if none does.
func (r Rollout) barred(next Rollout, now Moment) error {
	if err := now.Freeze.Refuse(now.Grounds); err != nil {
		return err
	}
	return r.promotable(next.StagedPercent, now)
}

// endedIn sets when the rollout ended and what ended it, if it was active before.
func (r Rollout) endedIn(was Rollout, now Moment) Rollout {
	if was.Status == Active && r.Status != Active {
		r.EndedAt = &now.At
		if now.By == Guard {
			r.EndedBy = ByGuard
		}
	}
	if r.Status != was.Status {
		r.Seen = nil
	}
	if r.Status == Completed && was.CompletedAt == nil {
		r.CompletedAt = &now.At
	}
	return r
}

// outlived says why a halted rollout cannot be active again: its channel no longer carries it.
func outlived() error {
	return problem.New(problem.InvalidStateTransition,
		"Since the rollout was halted, a version was published on its channel or another rollout was started; start a new one.")
}

// raised returns the percentage after a raise, or why it is refused.
func (r Rollout) raised(percent int) (int, error) {
	if percent == r.StagedPercent {
		return percent, nil
	}
	if r.Status != Active {
		return 0, problem.New(problem.InvalidStateTransition,
			"The rollout is %s at %d percent; only an active rollout can be promoted.", r.Status, r.StagedPercent)
	}
	following := cohort.After(r.StagedPercent)
	if following == 0 {
		return 0, problem.New(problem.InvalidStateTransition, "The rollout is at 100 percent, the last stage; it cannot be lowered.")
	}
	if percent != following {
		return 0, problem.New(problem.InvalidStateTransition,
			"The rollout is at %d percent; the next stage is %d.", r.StagedPercent, following)
	}
	return percent, nil
}

// adopts reports whether the change from r to next makes the target the channel's version: completing
// an active rollout that reached everyone.
func (r Rollout) adopts(next Rollout) bool {
	return r.Status == Active && next.Status == Completed && next.StagedPercent == everyone
}

// event names the change from r to next in the audit trail.
func (r Rollout) event(next Rollout) string {
	switch {
	case next.Status == r.Status && r.ReturnedAt != next.ReturnedAt:
		return "RolloutReturned"
	case next.Status == r.Status:
		return "RolloutPromoted"
	case next.Status == Active:
		return "RolloutResumed"
	case next.Status == Halted:
		return "RolloutHalted"
	}
	return "RolloutCompleted"
}
