package machine

import (
	"context"
	"slices"

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
	waits     Waits // nil: unknown
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db: db, factories: factory.NewStore(db)} }

// Waits reports whether a version that holds somewhere waits for a signature for a machine; see method.Store.Waits.
type Waits func(ctx context.Context, m Machine) (bool, error)

// Admitting makes the store know which machines wait.
func (s *Store) Admitting(waits Waits) *Store {
	s.waits = waits
	return s
}

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

// OfBox lists the machines of a factory for which a box speaks.
func OfBox(ctx context.Context, db *dynamo.DB, factoryID, box string) (all []Machine, err error) {
	err = dynamo.Walk(ctx, db, dynamo.Selection{Table: dynamo.Machines, Partition: factoryID}, nil, 0, func(m Machine) error {
		if m.EdgeID == box {
			all = append(all, m)
		}
		return nil
	})
	return all, err
}

// Left are the machines of a box that can no longer speak for them. They hear of no recall until they have another box, so a
// person has to go there.
type Left struct {
	Machines []string `json:"machines"`
	// Unknown is set if the machines could not be read. The box no longer speaks for any machine all the same.
	Unknown bool `json:"unknown,omitempty"`
}

// Left lists the machines of a factory that name a box, and reports whether there is anything to say. It is asked after the
// end of the box, which nothing may prevent.
func (s *Store) Left(ctx context.Context, factoryID, box string) (left Left, any bool) {
	left.Machines = []string{}
	if factoryID == "" {
		return left, false
	}
	machines, err := OfBox(ctx, s.db, factoryID, box)
	for _, m := range machines {
		left.Machines = append(left.Machines, m.Code)
	}
	left.Unknown = err != nil
	return left, left.Unknown || len(left.Machines) > 0
}

// registered is the part of a box's row that says where it is; see package edge.
type registered struct {
	OrganizationID string `json:"organizationId"`
	FactoryID      string `json:"factoryId"`
}

// Put registers or changes a machine in a factory of the caller's organization, and reports whether it is new. It
// returns NOT_FOUND for any other factory, EDGE_NOT_IN_ORGANIZATION for a box of another organization, CONFLICT for
// one of another factory, PRECONDITION_FAILED, and TIMEOUT if the machine keeps changing. It insists, because all
// machines of a factory are counted by one number. An admission that its person gave last, with the same reason, is stored
// again only if a version waits for it by now.
func (s *Store) Put(ctx context.Context, caller auth.Principal, from audit.Origin, factoryID, code string, r Registration, when input.Preconditions) (created bool, err error) {
	named := r.EdgeID != nil && *r.EdgeID != ""
	by := PersonOf(caller)
	from = from.For(audit.Grounds{Reason: r.Admission})
	err = change.Retry(ctx, s.db, from, func(set *change.Set) error {
		var owner factory.Factory
		var was Machine
		var box registered
		reads := []func(context.Context) error{
			func(ctx context.Context) (err error) {
				owner, err = s.factories.Owned(ctx, caller, factoryID)
				return err
			},
			func(ctx context.Context) (err error) { was, err = s.find(ctx, factoryID, code); return err },
		}
		if named {
			reads = append(reads, func(ctx context.Context) error {
				_, err := s.db.Get(ctx, dynamo.Edges, dynamo.Key{"edgeId": *r.EdgeID}, &box)
				return err
			})
		}
		if err := dynamo.Together(ctx, reads...); err != nil {
			return err
		}
		created = was.Revision == 0
		if err := when.Check(input.Revision(was.Revision)); err != nil {
			return err
		}
		if named {
			if err := box.speaksIn(owner, *r.EdgeID); err != nil {
				return err
			}
		}
		r, err := s.needed(ctx, was, r, by)
		if err != nil {
			return err
		}
		next, event, err := was.register(factoryID, code, r, signing{by, owner.Changes() + 1}, set.After(was.UpdatedAt))
		if err != nil || event == "" {
			return err
		}
		total := owner.Machines()
		if created {
			total++
			next.Ordinal = total
		}
		change.Record(set, kind(&owner), was, next, event)
		if was.counts(next) {
			set.With(owner.Counted(total))
		}
		if named {
			set.With(dynamo.TransactCheck("box", dynamo.Edges, dynamo.Key{"edgeId": *r.EdgeID}, dynamo.Condition{
				Expr:   "#organizationId = :organization AND #factoryId = :factory",
				Values: map[string]any{":organization": owner.OrganizationID, ":factory": factoryID}}))
		}
		return nil
	})
	return created, err
}

// needed returns the registration without an admission that would admit the machine to nothing more: the last one again, while
// no version waits for the machine and its classes stay as they are.
func (s *Store) needed(ctx context.Context, was Machine, r Registration, by Person) (Registration, error) {
	changes := r.Returned || r.Classes != nil && !slices.Equal(slices.Sorted(slices.Values(r.Classes)), was.Classes)
	if s.waits == nil || r.Admission == "" || changes || !was.signedLast(r.Admission, by) {
		return r, nil
	}
	waits, err := s.waits(ctx, was)
	if !waits {
		r.Admission = ""
	}
	return r, err
}

// speaksIn refuses a box that cannot speak for machines of a factory: its polls there would be refused, so the machine
// would hear of no recall.
func (r registered) speaksIn(f factory.Factory, box string) error {
	switch {
	case r.OrganizationID != f.OrganizationID:
		return problem.New(problem.EdgeNotInOrganization, "Organization %s has no box %s.", f.OrganizationID, box)
	case r.FactoryID == "":
		return problem.New(problem.Conflict, "Box %s is in no factory. Set its factory to %s first.", box, f.FactoryID)
	case r.FactoryID != f.FactoryID:
		return problem.New(problem.Conflict, "Box %s is in factory %s, and a machine takes a box of its own factory only.", box, r.FactoryID)
	}
	return nil
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
