package factory

import (
	"context"
	"strconv"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// ResourceType is the type of factories in the audit trail.
const ResourceType = "factory"

var kind = change.Kind[Factory]{
	Type: ResourceType, Table: dynamo.Factories, Key: "factoryId",
	State: func(f Factory) change.Stamp {
		return change.Stamp{ID: f.FactoryID, Revision: f.Revision, ChangedAt: f.UpdatedAt, Organization: f.OrganizationID}
	},
}

func key(id string) dynamo.Key { return dynamo.Key{"factoryId": id} }

// A Store stores factories.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

// Find returns a factory, for callers that have checked who asks. Its revision is 0 if there is none.
func (s *Store) Find(ctx context.Context, id string) (Factory, error) { return s.find(ctx, id) }

func (s *Store) find(ctx context.Context, id string) (f Factory, err error) {
	var stored row
	_, err = s.db.Get(ctx, dynamo.Factories, key(id), &stored)
	f, f.changes, f.machines = stored.Factory, stored.MachineChanges, stored.MachineCount
	return f, err
}

// Readable returns a factory that the caller may read. It returns NOT_FOUND for any other,
// whether it exists or not.
func (s *Store) Readable(ctx context.Context, caller auth.Principal, id string) (Factory, error) {
	f, err := s.find(ctx, id)
	if err == nil && (f.Revision == 0 || !caller.MayRead(f.OrganizationID)) {
		return Factory{}, problem.Missing()
	}
	return f, err
}

// Owned returns a factory of the caller's own organization, for changes. The caller's role is
// checked elsewhere. It returns NOT_FOUND for any other factory, whether it exists or not.
func (s *Store) Owned(ctx context.Context, caller auth.Principal, id string) (Factory, error) {
	f, err := s.find(ctx, id)
	if err == nil && (f.Revision == 0 || !caller.Owns(f.OrganizationID)) {
		return Factory{}, problem.Missing()
	}
	return f, err
}

// Of returns FACTORY_NOT_IN_ORGANIZATION if an organization has no such factory, because it does
// not exist or belongs to another.
func (s *Store) Of(ctx context.Context, organizationID, id string) error {
	f, err := s.find(ctx, id)
	if err == nil && (f.Revision == 0 || f.OrganizationID != organizationID) {
		return problem.New(problem.FactoryNotInOrganization, "Organization %s has no factory %s.", organizationID, id)
	}
	return err
}

// A Named is an organization and a factory that an element of a list names. The zero Named names none.
type Named struct{ OrganizationID, FactoryID string }

// OfAll is Of for a list. The refusal has a fault for each element that names a factory which
// its organization does not have. list is the JSON pointer of the list, and elements name the
// factory in "factoryId". Each factory is read once.
func (s *Store) OfAll(ctx context.Context, list string, named []Named) (refusal, err error) {
	known, reads := map[string]*Factory{}, []func(context.Context) error(nil)
	for _, n := range named {
		if n.FactoryID == "" || known[n.FactoryID] != nil {
			continue
		}
		f := new(Factory)
		known[n.FactoryID] = f
		reads = append(reads, func(ctx context.Context) (err error) {
			*f, err = s.find(ctx, n.FactoryID)
			return err
		})
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return nil, err
	}
	var faults []problem.Fault
	for i, n := range named {
		if f := known[n.FactoryID]; f != nil && (f.Revision == 0 || f.OrganizationID != n.OrganizationID) {
			faults = append(faults, problem.Fault{Pointer: list + "/" + strconv.Itoa(i) + "/factoryId", Code: "unknown",
				Detail: "must be a factory of organization " + n.OrganizationID})
		}
	}
	if len(faults) == 0 {
		return nil, nil
	}
	p := problem.New(problem.FactoryNotInOrganization, "%d of the boxes name a factory that their organization does not have; see errors.", len(faults))
	p.Faults = faults
	return p, nil
}

// Put registers a factory or renames it, and reports whether it is new. It returns CONFLICT if the factory belongs to
// another organization, and PRECONDITION_FAILED.
func (s *Store) Put(ctx context.Context, from audit.Origin, id string, r Registration, when input.Preconditions) (created bool, err error) {
	if r.Updates != nil {
		r.Updates.By = calendar.Signer(from.Actor.Person())
	}
	return change.Put(ctx, s.db, from, kind, key(id), input.Preconditions{}, func(was Factory, at time.Time) (Factory, string, error) {
		err := r.mayKnow(was) // before a condition reveals anything about the factory
		if err == nil {
			err = when.Check(input.Revision(was.Revision))
		}
		if err != nil {
			return was, "", err
		}
		return was.register(id, r, at)
	})
}
