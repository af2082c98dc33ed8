package enrolment

import (
	"context"
	"strconv"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// Accept registers waiting boxes, each with the hash that it waits with, all or none. It returns NOT_FOUND,
// EDGE_ENROLLED if another box has an id, and CONFLICT if the enrolment has ended or no box waits with the hash.
func (s *Registry) Accept(ctx context.Context, from audit.Origin, caller auth.Principal, id string, pairs []Pair) error {
	var called []bell.Call
	arrivals := edge.ArrivalsBy(edge.RegistrarOf(caller))
	err := change.Make(ctx, s.db, from, func(set *change.Set) error {
		called = nil
		kept, ids, boxes, err := s.find(ctx, id, pairs)
		if err == nil {
			err = kept.managed(caller)
		}
		if err != nil {
			return err
		}
		if !kept.valid(s.db.Now()) {
			return problem.New(problem.Conflict, "The enrolment has ended.")
		}
		refused, arriving := faults{}, []edge.Edge(nil)
		for i, p := range pairs {
			switch outcome := kept.accept(p.TokenSHA256, boxes[i].Stored, boxes[i].waits, s.db.Now()); outcome {
			case Enrols:
				_, calls := s.edges.Record(set, kept.assignment(p), boxes[i].Stored)
				called, ids = append(called, calls...), ids.with(p.EdgeID)
				arriving = append(arriving, edge.Edge{OrganizationID: kept.OrganizationID})
			case Refused, Banned, Waits:
				refused.add(i, outcome)
			}
		}
		if err := refused.problem(); err != nil || set.Empty() {
			return err
		}
		next, err := kept.accepted(ids, set.After(kept.UpdatedAt))
		if err != nil {
			return err
		}
		if err := s.edges.Enter(ctx, arrivals, arriving...); err != nil {
			return err
		}
		change.Record(set, kind, kept, next, "EnrolmentAccepted")
		set.With(ids.write(next.Enrolment))
		return nil
	})
	if err == nil {
		s.edges.Ring(ctx, called...)
	}
	return err
}

// A candidate is a box that a person accepts, with all that is stored of it.
type candidate struct {
	edge.Stored
	waits bool
}

// find reads an enrolment and the stored state of some boxes.
func (s *Registry) find(ctx context.Context, id string, pairs []Pair) (kept Kept, ids IDs, boxes []candidate, err error) {
	boxes = make([]candidate, len(pairs))
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) {
			// Read the ids second: they are written with the enrolment, and its revision detects other writers.
			if kept, err = s.get(ctx, id); err == nil {
				ids, err = s.ids(ctx, id)
			}
			return err
		},
	}
	for i, p := range pairs {
		reads = append(reads,
			func(ctx context.Context) (err error) { boxes[i].Stored, err = s.edges.Find(ctx, p.EdgeID); return err },
			func(ctx context.Context) (err error) { boxes[i].waits, err = s.waits(ctx, id, p); return err })
	}
	return kept, ids, boxes, dynamo.Together(ctx, reads...)
}

// faults collects the faults of boxes that a person accepts.
type faults struct {
	list     []problem.Fault
	enrolled bool
}

func (f *faults) add(i int, outcome Outcome) {
	fault := problem.Fault{Pointer: "/items/" + strconv.Itoa(i), Code: "reference", Detail: "must be waiting with this hash"}
	switch outcome {
	case Refused:
		f.enrolled, fault.Detail = true, "is already registered, or must be reset"
	case Banned:
		f.enrolled, fault.Detail = true, "was reset, and must wait with a new token"
	}
	f.list = append(f.list, fault)
}

// problem returns the refusal; nil if there is no fault.
func (f *faults) problem() error {
	if len(f.list) == 0 {
		return nil
	}
	code := problem.Conflict
	if f.enrolled {
		code = problem.EdgeEnrolled
	}
	p := problem.New(code, "%d of the boxes cannot be accepted; see errors.", len(f.list))
	p.Faults = f.list
	return p
}
