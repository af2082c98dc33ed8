package enrolment

import (
	"context"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// Redeem registers the box that calls with an enrolment's code, with the hash of its token: Enrols, or Again if it was
// already registered like this. The box Waits if its id is not listed. It returns UNAUTHENTICATED if the code is no
// longer valid, EDGE_ENROLLED if another box has the id, and CONFLICT if the box keeps changing.
//
// It checks the code with its reads. So a call that is under way when the enrolment ends may still succeed. Later calls
// cannot.
func (s *Registry) Redeem(ctx context.Context, from audit.Origin, caller auth.Principal, p Pair) (e Enrolment, outcome Outcome, err error) {
	var called []bell.Call
	var arrivals *edge.Arrivals
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		var kept Kept
		var ids IDs
		var is edge.Stored
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) { kept, err = s.get(ctx, caller.UserID); return err },
			func(ctx context.Context) (err error) { ids, err = s.ids(ctx, caller.UserID); return err },
			func(ctx context.Context) (err error) { is, err = s.edges.Find(ctx, p.EdgeID); return err },
		)
		if err != nil {
			return err
		}
		if !kept.admits(caller, s.db.Now()) {
			return problem.New(problem.Unauthenticated, problem.NoValidToken)
		}
		judge := func() { outcome = kept.redeem(p.TokenSHA256, slices.Contains(ids.Listed, p.EdgeID), is, s.db.Now()) }
		e = kept.Enrolment
		if judge(); outcome.refused() { // some of the reads may predate an earlier call of the same box
			if is, err = s.edges.Find(ctx, p.EdgeID); err != nil {
				return err
			}
			judge()
		}
		switch outcome {
		case Again: // the box may have been moved since
			e.EdgeType, e.Channel, e.OrganizationID = is.Edge.EdgeType, is.Edge.Channel, is.Edge.OrganizationID
		case Enrols:
			if arrivals == nil {
				arrivals = edge.ArrivalsBy(kept.Registrar)
			}
			if err := s.edges.Enter(ctx, arrivals, edge.Edge{OrganizationID: e.OrganizationID}); err != nil {
				return err
			}
			_, called = s.edges.Record(set, e.assignment(p), is)
		case Waits:
			return s.wait(ctx, set, e, p, from.SourceIP)
		case Refused, Banned:
			if next, event := kept.refuse(p.EdgeID, set.After(kept.UpdatedAt)); event != "" {
				change.Record(set, kind, kept, next, event)
			}
		}
		return nil
	})
	if err != nil {
		return e, outcome, err
	}
	switch outcome {
	case Banned:
		return e, outcome, problem.New(problem.EdgeEnrolled, OldToken)
	case Refused:
		return e, outcome, problem.New(problem.EdgeEnrolled, "Another token was registered for the box, or the box was retired. "+
			"An admin of its organization can reset the id. If another organization has registered the id of your box, ask a platform owner "+
			"to give the id to yours (POST /api/edges with takeOver), and then reset it.")
	}
	s.edges.Ring(ctx, called...)
	return e, outcome, nil
}
