// Package machine is about the machines of a factory.
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
)

// A Machine is known in its factory by its code.
type Machine struct {
	FactoryID string    `json:"factoryId"`
	Code      string    `json:"code"`
	Name      string    `json:"name"` // 1 to 200 characters
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1
}

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
	_, err = s.db.Get(ctx, dynamo.Machines, dynamo.Key{"factoryId": factoryID, "code": code}, &m)
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
	return factory.Beside(ctx, s.factories, caller, factoryID, func(ctx context.Context) (dynamo.Page[Machine], error) {
		return dynamo.List[Machine](ctx, s.db, dynamo.Selection{Table: dynamo.Machines, Partition: factoryID}, w)
	})
}

// Put registers a machine in a factory of the caller's organization or renames it, and tells whether
// it is new. It returns NOT_FOUND for any other factory, PRECONDITION_FAILED, and CONFLICT when the
// machine keeps changing.
func (s *Store) Put(ctx context.Context, caller auth.Principal, from audit.Origin, factoryID, code, name string, when request.Preconditions) (created bool, err error) {
	err = dynamo.Decide(func() error {
		var owner factory.Factory
		var was Machine
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) {
				owner, err = s.factories.Owned(ctx, caller, factoryID)
				return err
			},
			func(ctx context.Context) (err error) { was, err = s.find(ctx, factoryID, code); return err })
		if err != nil {
			return err
		}
		created = was.Revision == 0 // of the last decision: an earlier one may have lost a race
		if err := when.Check(request.Revision(was.Revision)); err != nil {
			return err
		}
		if was.Revision > 0 && was.Name == name {
			return nil
		}
		at := audit.NotBefore(s.db.Now(), was.UpdatedAt)
		next := Machine{FactoryID: factoryID, Code: code, Name: name,
			CreatedAt: at, UpdatedAt: at, Revision: was.Revision + 1}
		event, before := "MachineRegistered", any(nil)
		if was.Revision > 0 {
			next.CreatedAt = was.CreatedAt
			event, before = "MachineRenamed", was
		}
		what := audit.Resource{Type: ResourceType, ID: code, Revision: next.Revision}
		return s.db.Commit(ctx,
			dynamo.PutPart("machine", dynamo.Machines, next, dynamo.AtRevision("code", was.Revision)),
			audit.Part(audit.Factory(factoryID), from, at, event, owner.OrganizationID, what, before, next))
	})
	return created, err
}
