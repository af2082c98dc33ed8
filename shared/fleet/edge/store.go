package edge

import (
	"context"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
)

// ResourceType is that of boxes in the audit trail.
const ResourceType = "edge"

// A Store keeps boxes.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

// edgeItem is a box with the key that the list of its channel goes by.
type edgeItem struct {
	Edge
	Pair string `json:"pair"`
}

func key(id string) dynamo.Key { return dynamo.Key{"edgeId": id} }

// Get returns a box, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, id string) (Edge, error) {
	var e Edge
	found, err := s.db.Get(ctx, dynamo.Edges, key(id), &e)
	if err == nil && !found {
		err = problem.Missing()
	}
	return e, err
}

// polled is Get for a poll, at half the price; see Polls for what that means.
func (s *Store) polled(ctx context.Context, id string) (Edge, error) {
	var e Edge
	found, err := s.db.GetEventually(ctx, dynamo.Edges, key(id), &e)
	if err != nil || found {
		return e, err
	}
	return s.Get(ctx, id)
}

// Put registers a box or assigns it anew, and tells whether it is new. It returns PRECONDITION_FAILED,
// and CONFLICT when the box keeps changing. The channel need not exist yet: boxes may be registered
// before the first release is published to them.
func (s *Store) Put(ctx context.Context, from audit.Origin, id string, a Assignment, when request.Preconditions) (created bool, err error) {
	err = dynamo.Decide(func() error {
		var was Edge
		if _, err := s.db.Get(ctx, dynamo.Edges, key(id), &was); err != nil {
			return err
		}
		created = was.Revision == 0 // of the last decision: an earlier one may have lost a race
		if err := when.Check(request.Revision(was.Revision)); err != nil {
			return err
		}
		at := audit.NotBefore(s.db.Now(), was.UpdatedAt)
		next, event, changed := was.assign(id, a, at)
		if !changed {
			return nil
		}
		var before any
		if !created {
			before = was
		}
		what := audit.Resource{Type: ResourceType, ID: id, Revision: next.Revision}
		return s.db.Commit(ctx,
			dynamo.PutPart("edge", dynamo.Edges, edgeItem{next, next.Pair()}, dynamo.AtRevision("edgeId", was.Revision)),
			audit.Part(audit.Platform, from, at, event, next.OrganizationID, what, before, next))
	})
	return created, err
}
