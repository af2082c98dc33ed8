package rollout

import (
	"context"
	"errors"
	"fmt"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// haveBoxes returns a fault for each organization that has no boxes at all: it is misspelled.
func (s *Store) haveBoxes(ctx context.Context, ids []string) error {
	var faults []problem.Fault
	for i, id := range ids {
		page, err := dynamo.List[struct{}](ctx, s.db, dynamo.Selection{Table: dynamo.Edges, Index: "byOrganization", Partition: id}, dynamo.Span{Limit: 1})
		if err != nil {
			return err
		}
		if len(page.Items) == 0 {
			faults = append(faults, problem.Fault{Pointer: fmt.Sprintf("/without/%d", i), Code: "unknown", Detail: "is not an organization that has boxes"})
		}
	}
	if faults != nil {
		return problem.Invalid(faults)
	}
	return nil
}

// HaltEverywhere halts a rollout and then every other active rollout of its version, on any channel of the edge type.
// Each halt is a decision of its own, with its own audit event. If one fails, the others are made all the same, and the
// error joins all failures. Repeating the call halts what is left.
func (s *Store) HaltEverywhere(ctx context.Context, from audit.Origin, id string, m Move, when input.Preconditions) error {
	first, err := s.Move(ctx, from, id, m, when)
	if err != nil {
		return err
	}
	var faults []error
	err = s.EachActive(ctx, func(r Rollout) {
		if r.EdgeType == first.EdgeType && r.TargetVersion == first.TargetVersion && r.ID != first.ID {
			_, err := s.Move(ctx, from, r.ID, m, input.Preconditions{})
			faults = append(faults, err)
		}
	}, func(id string, err error) {
		faults = append(faults, fmt.Errorf("rollout %s cannot be read: %w", id, err))
	})
	return errors.Join(append(faults, err)...)
}
