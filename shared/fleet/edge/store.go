package edge

import (
	"context"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
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

var kind = change.Kind[Edge]{
	Type: ResourceType, Table: dynamo.Edges, Key: "edgeId",
	State: func(e Edge) change.State {
		return change.State{ID: e.EdgeID, Revision: e.Revision, ChangedAt: e.UpdatedAt, Organization: e.OrganizationID}
	},
	Item: func(e Edge) any { return edgeItem{e, e.Pair()} },
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
	return change.Put(ctx, s.db, from, kind, key(id), when, func(was Edge, at time.Time) (Edge, string, error) {
		next, event := was.assign(id, a, at)
		return next, event, nil
	})
}
