package machine

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// ResourceType is that of machines in the audit trail, where a machine's id is its code.
const ResourceType = "machine"

// A Store keeps machines.
type Store struct {
	db        *dynamo.DB
	factories *factory.Store
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db: db, factories: factory.NewStore(db)} }

func (s *Store) find(ctx context.Context, factoryID, code string) (m Machine, err error) {
	_, err = s.db.Get(ctx, dynamo.Machines, key(factoryID, code), &m)
	return m, err
}

// Get returns a machine of a factory that the caller may know of, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, caller auth.Principal, factoryID, code string) (Machine, error) {
	m, err := factory.Beside(ctx, s.factories, caller, factoryID, func(ctx context.Context) (Machine, error) {
		return s.find(ctx, factoryID, code)
	})
	if err == nil && m.Revision == 0 {
		err = problem.Missing()
	}
	return m, err
}

// List returns the machines of a factory in the byte order of their codes. What was written is listed
// at once. It returns NOT_FOUND for a factory that the caller may not know of.
//
// While someone pages, a new machine moves those behind it on by one. Machines are never removed.
func (s *Store) List(ctx context.Context, caller auth.Principal, factoryID string, w dynamo.Window) (dynamo.Page[Machine], error) {
	return factory.ListIn[Machine](ctx, s.factories, caller, factoryID, dynamo.Selection{Table: dynamo.Machines, Partition: factoryID}, w)
}

// Put registers a machine in a factory of the caller's organization or changes it, and tells whether
// it is new. It returns NOT_FOUND for any other factory, PRECONDITION_FAILED, and CONFLICT when the
// machine keeps changing.
func (s *Store) Put(ctx context.Context, caller auth.Principal, from audit.Origin, factoryID, code string, r Registration, when request.Preconditions) (created bool, err error) {
	var owner factory.Factory
	return change.Put(ctx, s.db, from, kind(&owner), key(factoryID, code), when,
		func(was Machine, at time.Time) (Machine, string, error) {
			next, event := was.register(factoryID, code, r, at)
			return next, event, nil
		},
		func(ctx context.Context) (err error) {
			owner, err = s.factories.Owned(ctx, caller, factoryID)
			return err
		})
}

// kind tells of machines of a factory. Its owner is read beside the machine.
func kind(owner *factory.Factory) change.Kind[Machine] {
	return change.Kind[Machine]{
		Type: ResourceType, Table: dynamo.Machines, Key: "code",
		State: func(m Machine) change.State {
			return change.State{ID: m.Code, Revision: m.Revision, ChangedAt: m.UpdatedAt,
				Stream: audit.Factory(m.FactoryID), Organization: owner.OrganizationID}
		},
	}
}

func key(factoryID, code string) dynamo.Key {
	return dynamo.Key{"factoryId": factoryID, "code": code}
}
