package method

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// These are resource types in the audit trail. The id of a version is the id of its method, a
// colon and the version's number.
const (
	ResourceType        = "production-method"
	VersionResourceType = "production-method-version"
)

// A Store stores production methods, their versions and contents.
type Store struct {
	db        *dynamo.DB
	factories *factory.Store
	speaks    Speaks
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db: db, factories: factory.NewStore(db)} }

// Speaks reports whether an issuer's tokens speak for a box with the registered issuer own; see boxauth.Issuers.Speak.
type Speaks func(own, issuer string) bool

// ForBoxes makes the store also answer boxes.
func (s *Store) ForBoxes(speaks Speaks) *Store {
	s.speaks = speaks
	return s
}

// methodItem is a method with its keys in the indexes by product and by status. A method without
// a version has no status.
type methodItem struct {
	Method
	ProductMethod string `json:"productMethod"`
	FactoryStatus string `json:"factoryStatus,omitempty"`
}

// factoryStatus is the key of the index by status.
func factoryStatus(factoryID string, s Status) string { return factoryID + "#" + string(s) }

// kind describes a factory's methods to package change. The owner is read before a method is
// made or changed.
func kind(owner *factory.Factory) change.Kind[Method] {
	return change.Kind[Method]{
		Type: ResourceType, Table: dynamo.Methods, Key: "methodId",
		State: func(m Method) change.Stamp {
			return change.Stamp{ID: m.MethodID, Revision: m.Revision, ChangedAt: m.changedAt(),
				Stream: audit.Factory(m.FactoryID), Organization: owner.OrganizationID}
		},
		Item: func(m Method) any {
			item := methodItem{Method: m, ProductMethod: m.ProductID + "#" + m.MethodID}
			if m.Latest != nil {
				item.FactoryStatus = factoryStatus(m.FactoryID, m.Latest.Status)
			}
			return item
		},
	}
}

func key(factoryID, methodID string) dynamo.Key {
	return dynamo.Key{"factoryId": factoryID, "methodId": methodID}
}

func (s *Store) find(ctx context.Context, factoryID, methodID string) (m Method, err error) {
	found, err := s.db.Get(ctx, dynamo.Methods, key(factoryID, methodID), &m)
	if err == nil && !found {
		err = problem.Missing()
	}
	return m, err
}

// Get returns a method of a factory that the caller may read, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, caller auth.Principal, factoryID, methodID string) (Method, error) {
	return factory.ReadInParallel(ctx, s.factories, caller, factoryID, func(ctx context.Context) (Method, error) {
		return s.find(ctx, factoryID, methodID)
	})
}

// Create creates a method in a factory of the caller's organization and returns its id. If the
// claim was used before, it returns the id of the first call. It returns NOT_FOUND for any other
// factory, and IDEMPOTENCY_KEY_REUSED.
func (s *Store) Create(ctx context.Context, caller auth.Principal, from audit.Origin, factoryID string, c Creation, claim idempotency.Claim) (id string, err error) {
	var owner factory.Factory
	return change.Create(ctx, s.db, from, claim,
		func(set *change.Set, id string) error {
			change.Record(set, kind(&owner), Method{}, c.create(id, factoryID, set.After(time.Time{})), "ProductionMethodCreated")
			return nil
		},
		func(ctx context.Context) (err error) {
			owner, err = s.factories.Owned(ctx, caller, factoryID)
			return err
		})
}

type versionItem struct {
	Version
	Number string `json:"number"`
}

// versionKind describes the versions of a factory's methods to package change.
func versionKind(owner *factory.Factory) change.Kind[Version] {
	return change.Kind[Version]{
		Type: VersionResourceType, Table: dynamo.MethodVersions, Key: "number",
		State: func(v Version) change.Stamp {
			return change.Stamp{ID: v.ID(), Revision: v.Revision, ChangedAt: v.UpdatedAt,
				Stream: audit.Factory(v.FactoryID), Organization: owner.OrganizationID}
		},
		Item: func(v Version) any { return versionItem{v, number(v.Version)} },
	}
}

// number returns a version's number, padded to a fixed length.
func number(version int64) string { return fmt.Sprintf("%010d", version) }

// Ref names a version of a method in a factory.
type Ref struct {
	FactoryID, MethodID string
	Version             int64
}

func (r Ref) key() dynamo.Key {
	return dynamo.Key{"methodId": r.MethodID, "number": number(r.Version)}
}

// lookup returns a version, or the zero value if there is none. The caller must check that the
// version's factory is the one in r.
func (s *Store) lookup(ctx context.Context, r Ref) (v Version, err error) {
	if r.Version == 0 {
		return Version{}, nil
	}
	_, err = s.db.Get(ctx, dynamo.MethodVersions, r.key(), &v)
	return v, err
}

// Version returns a version in a factory that the caller may read, or NOT_FOUND.
func (s *Store) Version(ctx context.Context, caller auth.Principal, r Ref) (Shown, error) {
	return factory.ReadInParallel(ctx, s.factories, caller, r.FactoryID, func(ctx context.Context) (Shown, error) {
		var m Method
		var v Version
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) { m, err = s.find(ctx, r.FactoryID, r.MethodID); return err },
			func(ctx context.Context) (err error) { v, err = s.lookup(ctx, r); return err })
		if err == nil && v.FactoryID != r.FactoryID {
			err = problem.Missing()
		}
		if err != nil {
			return Shown{}, err
		}
		shown := m.shown(v, s.db.Now())
		c, err := s.parsed(ctx, v)
		if errors.Is(err, errContent) { // who signed is worth knowing all the same
			shown.Doubts = []content.Doubt{{Kind: "unreadable", Detail: "the stored content is not what was signed"}}
			return shown, nil
		}
		return shown.saying(c), err
	})
}

// Versions returns the versions of a method, the newest first. It shows every write immediately. It reads a page at an
// offset only after it knows that the caller may read the method's factory. Otherwise it returns NOT_FOUND.
func (s *Store) Versions(ctx context.Context, caller auth.Principal, factoryID, methodID string, w dynamo.Span) (shown dynamo.Page[Shown], err error) {
	of := dynamo.Selection{Table: dynamo.MethodVersions, Partition: methodID, Descending: true}
	var m Method
	var page dynamo.Page[Version]
	if w.Skip > 0 {
		if m, err = s.Get(ctx, caller, factoryID, methodID); err == nil {
			page, err = dynamo.List[Version](ctx, s.db, of, w)
		}
	} else {
		_, err = factory.ReadInParallel(ctx, s.factories, caller, factoryID, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, dynamo.Together(ctx,
				func(ctx context.Context) (err error) { m, err = s.find(ctx, factoryID, methodID); return err },
				func(ctx context.Context) (err error) { page, err = dynamo.List[Version](ctx, s.db, of, w); return err })
		})
	}
	if err != nil {
		return shown, err
	}
	shown.More, shown.Last = page.More, page.Last
	for _, v := range page.Items {
		shown.Items = append(shown.Items, m.shown(v, s.db.Now()))
	}
	return shown, nil
}
