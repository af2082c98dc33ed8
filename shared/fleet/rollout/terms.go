package rollout

import (
	"bytes"
	"slices"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/trail/audit"
)

// Guard is the guard's name in the audit trail. No person has such an issuer: people's issuers are URLs.
var Guard = audit.Person{Issuer: "urn:wavegate:guard", UserID: "guard"}

// Terms holds a rollout's policy, who set it, and which stages were approved.
type Terms struct {
	Policy guard.Policy `json:"policy"`
	// Revision is the rollout's revision at the last change to the policy.
	Revision int64 `json:"revision" stored:"identity"`
	// By is who changed the policy last.
	By audit.Person `json:"by"`
	// Approvals are in the order in which they were given.
	Approvals []Approval `json:"approvals,omitempty"`
}

// NoGuard is what a rollout without a policy shows instead of the guard's mode.
const NoGuard guard.Mode = "none"

// Mode is the mode of the guard, or NoGuard.
func (r Rollout) Mode() guard.Mode {
	if r.Terms == nil {
		return NoGuard
	}
	return r.Terms.Policy.Mode
}

// Fast says what the rollout's policy cannot see in time; empty if it soaks for a week, or has no policy.
func (r Rollout) Fast() string {
	if r.Terms == nil {
		return ""
	}
	return r.Terms.Policy.Fast()
}

// MarshalJSON shows a rollout as it is stored, with its Mode as guard, so that the absence of a guard is explicit, and
// with what a fast one cannot see.
func (r Rollout) MarshalJSON() ([]byte, error) {
	type stored Rollout
	return timestamp.JSON(struct {
		stored
		Guard guard.Mode `json:"guard"`
		Fast  string     `json:"fast,omitempty"`
	}{stored(r), r.Mode(), r.Fast()})
}

// mostApprovals limits the approvals of a rollout, so that it and its events fit into the store.
const mostApprovals = 48

// An Approval is one person's consent to raise the rollout to a stage.
type Approval struct {
	Stage int          `json:"stage" stored:"identity"`
	By    audit.Person `json:"by"`
	At    time.Time    `json:"at"`
}

// Approved lists the stages that were approved.
func (r Rollout) Approved() []int {
	var stages []int
	if r.Terms != nil {
		for _, a := range r.Terms.Approvals {
			stages = append(stages, a.Stage)
		}
	}
	return stages
}

// without returns the terms without some of the approvals.
func (g Terms) without(drop func(Approval) bool) *Terms {
	g.Approvals = slices.DeleteFunc(slices.Clone(g.Approvals), drop)
	if len(g.Approvals) == 0 {
		g.Approvals = nil // omit an empty list: the embedded store cannot store one
	}
	return &g
}

// WithPolicy gives the rollout a new policy. It returns the next state and the event for the audit trail. The event is
// empty if nothing changes. For an ended rollout it is INVALID_STATE_TRANSITION.
//
// Stages that need an approval may be added, but not removed. Approvals of stages that were not reached yet are
// dropped, since they were given under the old policy. WINDOW_CLOSED: the windows are closed, and the new policy would
// open them immediately. That would bypass them without a reason.
func (r Rollout) WithPolicy(p guard.Policy, by audit.Person, at time.Time) (next Rollout, event string, err error) {
	if err := r.ended(); err != nil {
		return r, "", err
	}
	if p.Hurries() && !r.Urgent && !r.Security() {
		return r, "", notUrgent()
	}
	p = p.For(r.Security())
	next = r
	next.Terms = &Terms{Policy: p}
	if g := r.Terms; g != nil {
		if bytes.Equal(g.Policy.JSON(), p.JSON()) {
			return r, "", nil
		}
		for _, stage := range g.Policy.Approvals.Before {
			if !slices.Contains(p.Approvals.Before, stage) {
				return r, "", problem.New(problem.InvalidStateTransition,
					"Stage %d needs an approval. Stages can be added to approvals.before, but not removed.", stage)
			}
		}
		if p.Promote.Windows.Open(at) {
			if err := closed(g.Policy.Promote.Windows, at, "A new policy cannot open them; promote the rollout with an overrideReason instead."); err != nil {
				return r, "", err
			}
		}
		next.Terms.Approvals = g.without(func(a Approval) bool { return a.Stage > r.StagedPercent }).Approvals
	}
	next = next.changed(r, at)
	next.Terms.Revision, next.Terms.By = next.Revision, by
	return next, "RolloutPolicyChanged", nil
}

func notUrgent() error {
	return problem.New(problem.Conflict, "The preset fast is for an urgent rollout, or for a release of the kind security; what shows after hours hurts all boxes.")
}

// ended says why a rollout can no longer get a policy or an approval, or nil.
func (r Rollout) ended() error {
	switch {
	case r.Status == Completed || r.CompletedAt != nil:
		return problem.New(problem.InvalidStateTransition, "The rollout was completed.")
	case r.EndedBy == ByPublication:
		return problem.New(problem.InvalidStateTransition, "A publication has ended the rollout.")
	}
	return nil
}

// Approve adds a person's approval of a stage. It returns the next state and the event for the audit trail. The event
// is empty if the person has approved the stage before. It returns INVALID_STATE_TRANSITION, and SELF_APPROVAL for the
// person who started the rollout, promoted it last or changed its policy last.
func (r Rollout) Approve(stage int, by audit.Person, at time.Time) (next Rollout, event string, err error) {
	if err := r.ended(); err != nil {
		return r, "", err
	}
	g := r.Terms
	switch {
	case g == nil || !slices.Contains(g.Policy.Approvals.Before, stage):
		return r, "", problem.New(problem.InvalidStateTransition, "Stage %d of the rollout needs no approval.", stage)
	case slices.ContainsFunc(g.Approvals, func(a Approval) bool { return a.Stage == stage && a.By == by }):
		return r, "", nil
	case stage < r.StagedPercent:
		return r, "", problem.New(problem.InvalidStateTransition, "The rollout is already at %d percent.", r.StagedPercent)
	case len(g.Approvals) >= mostApprovals:
		return r, "", problem.New(problem.Conflict, "The rollout has %d approvals, which is the maximum.", mostApprovals)
	case r.steered(by):
		return r, "", problem.New(problem.SelfApproval,
			"Whoever started the rollout, promoted it last or changed its policy last cannot approve it; someone else has to.")
	}
	more := *g
	more.Approvals = append(slices.Clone(g.Approvals), Approval{stage, by, at})
	next = r
	next.Terms = &more
	return next.changed(r, at), "RolloutApproved", nil
}

// steered reports whether a person started the rollout, promoted it last or changed its policy last.
func (r Rollout) steered(by audit.Person) bool {
	is := func(p *audit.Person) bool { return p != nil && *p == by }
	return is(&r.StartedBy) || is(r.PromotedBy) || is(&r.Terms.By)
}

// promotable returns why the policy refuses to raise or resume the rollout to a stage now, or nil. An override reason
// overrides a closed window, but not a missing approval.
func (r Rollout) promotable(to int, now Moment) error {
	if r.Terms == nil {
		return nil
	}
	p := r.Terms.Policy
	if slices.Contains(p.Approvals.Before, to) && !slices.Contains(r.Approved(), to) {
		return problem.New(problem.ApprovalRequired, "Stage %d needs the approval of a second person.", to)
	}
	if now.OverrideReason != "" {
		return nil
	}
	return closed(p.Promote.Windows, now.At, "Give an overrideReason to override this.")
}

// closed returns WINDOW_CLOSED, with a way around it, unless one of the windows is open.
func closed(windows calendar.Windows, at time.Time, pass string) error {
	if windows.Open(at) {
		return nil
	}
	next := "none opens within two weeks"
	if opens, ok := windows.Opens(at); ok {
		next = "the next one opens at " + opens.UTC().Format(time.RFC3339)
	}
	return problem.New(problem.WindowClosed, "The rollout's windows are closed; %s. %s", next, pass)
}

// promotedBy sets the last promoter. Approvals that they gave for later stages no longer count.
func (r Rollout) promotedBy(by audit.Person) Rollout {
	r.PromotedBy = &by
	if r.Terms != nil {
		r.Terms = r.Terms.without(func(a Approval) bool { return a.Stage > r.StagedPercent && a.By == by })
	}
	return r
}

// advised sets the guard to only advise. It is for a rollout with a target that was halted before. Boxes that went silent
// then are no longer seen, so the guard cannot count them now.
func (r Rollout) advised() Rollout {
	if r.Terms != nil && r.Terms.Policy.Mode != guard.Advise {
		g := *r.Terms
		g.Policy.Mode, g.Revision = guard.Advise, r.Revision
		r.Terms = &g
	}
	return r
}
