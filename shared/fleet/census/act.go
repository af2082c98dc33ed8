package census

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// GuardOrigin is the origin of the guard's changes. The request id is the tick's.
func GuardOrigin(requestID string) audit.Origin {
	return audit.Origin{Actor: audit.Actor{Issuer: rollout.Guard.Issuer, UserID: rollout.Guard.UserID, Roles: []auth.Role{}}, RequestID: requestID}
}

// A MoveCause is why the guard moved a rollout, or warned people about it. The audit event holds it.
type MoveCause struct {
	Judgement
	AsOf time.Time `json:"asOf"` // when the boxes were counted
	// Do is what a person should do, of a warning that needs one.
	Do string `json:"do,omitempty"`
}

// Explain returns the guard's own sentence, and what to do.
func (c MoveCause) Explain() string {
	if c.Do == "" {
		return c.Sentence
	}
	return c.Sentence + " To do: " + c.Do + "."
}

// Move is the move that follows from a judgement, if the guard may make it; onHalt is what the policy does with a halt, and newFleet is
// set if all boxes of the channel are new.
func (j Judgement) Move(onHalt guard.OnHalt, newFleet bool) (m rollout.Move, moves bool) {
	switch {
	case j.Acts && j.Action == guard.Halt:
		return rollout.Move{Status: rollout.Halted, Judged: j.PolicyRevision, Return: onHalt == guard.Return}, true
	case j.Stops:
		return rollout.Move{Stop: j.Suspicion(), Judged: j.PolicyRevision}, true
	case j.YoungStop != nil:
		return rollout.Move{YoungStop: j.YoungStop, Judged: j.PolicyRevision}, true
	case j.Steps:
		return rollout.Move{Young: true}, true
	case j.Acts && j.Action == guard.Complete:
		return rollout.Move{Status: rollout.Completed}, true
	}
	return rollout.Move{StagedPercent: &j.Next, Young: !newFleet}, j.Acts
}

// act moves a rollout by the guard's verdict, if the policy lets the guard act. It promotes, stops telling boxes and completes only the
// revision that was judged; otherwise the next tick judges the new one. It halts if the rollout still has the policy
// that was judged, whatever else has changed. Freezes, windows and approvals apply to the guard's moves as they do to
// people's.
func (s *Store) act(ctx context.Context, from audit.Origin, c Candidate) (acted bool, err error) {
	if c.Last == nil || c.Last.Guard == nil {
		return false, nil
	}
	j, when := *c.Last.Guard, input.Preconditions{}
	m, moves := j.Move(c.Terms.Policy.OnHalt, c.Last.NewFleet)
	if m.Status != rollout.Halted {
		when = input.Matching(input.Revision(j.Revision))
		moves = moves && j.Revision == c.Revision && s.db.Now().Sub(c.Last.AsOf) <= guard.Oldest // otherwise it has changed, or could not be counted now
	}
	if !moves {
		return false, nil
	}
	_, err = s.rollouts.Move(ctx, from.For(audit.Grounds{Cause: MoveCause{Judgement: j, AsOf: c.Last.AsOf}}), c.ID, m, when)
	for _, code := range []problem.Code{problem.PreconditionFailed, problem.Frozen, problem.WindowClosed, problem.ApprovalRequired, problem.InvalidStateTransition} {
		if problem.Has(err, code) {
			return false, nil
		}
	}
	return err == nil, err
}
