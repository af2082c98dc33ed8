package machine

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// ResourceType is the type of machines in the audit trail. A machine's id there is its code.
const ResourceType = "machine"

// A Store stores machines.
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

// Get returns a machine of a factory that the caller may read, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, caller auth.Principal, factoryID, code string) (Machine, error) {
	m, err := factory.ReadInParallel(ctx, s.factories, caller, factoryID, func(ctx context.Context) (Machine, error) {
		return s.find(ctx, factoryID, code)
	})
	if err == nil && m.Revision == 0 {
		err = problem.Missing()
	}
	return m, err
}

// List returns the machines of a factory in the byte order of their codes. It shows every write immediately. It returns
// NOT_FOUND for a factory that the caller may not read.
//
// Machines are never removed. A machine that is added between two pages shifts the later ones by one.
func (s *Store) List(ctx context.Context, caller auth.Principal, factoryID string, w dynamo.Span) (dynamo.Page[Machine], error) {
	return factory.ListIn[Machine](ctx, s.factories, caller, factoryID, dynamo.Selection{Table: dynamo.Machines, Partition: factoryID}, w)
}

// Put registers or changes a machine in a factory of the caller's organization, and reports whether it is new. It
// returns NOT_FOUND for any other factory, EDGE_NOT_IN_ORGANIZATION for a box of another organization,
// PRECONDITION_FAILED, and CONFLICT if the machine keeps changing.
func (s *Store) Put(ctx context.Context, caller auth.Principal, from audit.Origin, factoryID, code string, r Registration, when input.Preconditions) (created bool, err error) {
	var owner factory.Factory
	// The row of a box is its registration; see package edge.
	var box struct {
		OrganizationID string `json:"organizationId"`
	}
	named := r.EdgeID != nil && *r.EdgeID != ""
	k := kind(&owner)
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		owner, err = s.factories.Owned(ctx, caller, factoryID)
		return err
	}}
	if named {
		row := dynamo.Key{"edgeId": *r.EdgeID}
		reads = append(reads, func(ctx context.Context) error {
			_, err := s.db.Get(ctx, dynamo.Edges, row, &box)
			return err
		})
		k.Along = func(Machine) []dynamo.TransactItem {
			return []dynamo.TransactItem{dynamo.TransactCheck("box", dynamo.Edges, row, dynamo.Condition{
				Expr: "#organizationId = :organization", Values: map[string]any{":organization": owner.OrganizationID}})}
		}
	}
	return change.Put(ctx, s.db, from, k, key(factoryID, code), when,
		func(was Machine, at time.Time) (Machine, string, error) {
			if named && box.OrganizationID != owner.OrganizationID {
				return was, "", problem.New(problem.EdgeNotInOrganization, "Organization %s has no box %s.", owner.OrganizationID, *r.EdgeID)
			}
			next, event := was.register(factoryID, code, r, at)
			return next, event, nil
		}, reads...)
}

// kind describes a factory's machines to package change. The owner is read in parallel with the
// machine.
func kind(owner *factory.Factory) change.Kind[Machine] {
	return change.Kind[Machine]{
		Type: ResourceType, Table: dynamo.Machines, Key: "code",
		State: func(m Machine) change.Stamp {
			return change.Stamp{ID: m.Code, Revision: m.Revision, ChangedAt: m.UpdatedAt,
				Stream: audit.Factory(m.FactoryID), Organization: owner.OrganizationID}
		},
	}
}

func key(factoryID, code string) dynamo.Key {
	return dynamo.Key{"factoryId": factoryID, "code": code}
}
