package freeze

import (
	"context"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// ResourceType is the resource type of the freeze in the audit trail.
const ResourceType = "freeze"

// id is the key of the freeze in the table of rollouts, and its id in the audit trail. Ids of rollouts are UUIDs. It is
// in none of the table's indexes.
const id = "freeze"

// A Store stores the freeze.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

var key = dynamo.Key{"id": id}

var kind = change.Kind[record]{
	Type: ResourceType, Table: dynamo.Rollouts, Key: "id",
	State: func(r record) change.Stamp {
		return change.Stamp{ID: id, Revision: r.Revision, ChangedAt: r.UpdatedAt}
	},
	Shown: func(r record) any {
		if r.Lifted {
			return nil
		}
		return r.Freeze
	},
	ETag: func(r record, now time.Time) string {
		if !r.holds(now) {
			return ""
		}
		return input.Revision(r.Revision)
	},
}

// Holding returns the freeze that is in force, or nil.
func (s *Store) Holding(ctx context.Context) (*Freeze, error) {
	var r record
	if _, err := s.db.Get(ctx, dynamo.Rollouts, key, &r); err != nil || !r.holds(s.db.Now()) {
		return nil, err
	}
	return &r.Freeze, nil
}

// Get returns the freeze that is in force, or NOT_FOUND.
func (s *Store) Get(ctx context.Context) (Freeze, error) {
	f, err := s.Holding(ctx)
	if err != nil {
		return Freeze{}, err
	}
	if f == nil {
		return Freeze{}, problem.Missing()
	}
	return *f, nil
}

// Set sets the freeze, replaces any earlier one, and reports whether there was none. It returns VALIDATION_FAILED for
// an end in the past or too far ahead, and PRECONDITION_FAILED.
func (s *Store) Set(ctx context.Context, from audit.Origin, w Wish, when input.Preconditions) (created bool, err error) {
	return change.Put(ctx, s.db, from, kind, key, when, func(was record, at time.Time) (record, string, error) {
		return was.set(w, at)
	})
}

// Lift ends the freeze. It returns NOT_FOUND if there is none, and PRECONDITION_FAILED.
func (s *Store) Lift(ctx context.Context, from audit.Origin, when input.Preconditions) error {
	_, err := change.Put(ctx, s.db, from, kind, key, when, func(was record, at time.Time) (record, string, error) {
		return was.lift(at)
	})
	return err
}
