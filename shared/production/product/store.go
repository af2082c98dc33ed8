package product

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

// ResourceType is the type of products in the audit trail.
const ResourceType = "product"

// A Store stores products.
type Store struct {
	db        *dynamo.DB
	factories *factory.Store
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db: db, factories: factory.NewStore(db)} }

// Put names a product of a factory of the caller's organization, and reports whether it had no name. It returns NOT_FOUND
// for any other factory, PRECONDITION_FAILED, and CONFLICT if the product keeps changing.
func (s *Store) Put(ctx context.Context, caller auth.Principal, from audit.Origin, at Place, n Naming, when input.Preconditions) (created bool, err error) {
	var owner factory.Factory
	kind := change.Kind[Product]{
		Type: ResourceType, Table: dynamo.Products, Key: "productId",
		State: func(p Product) change.Stamp {
			return change.Stamp{ID: p.ProductID, Revision: p.Revision, ChangedAt: p.UpdatedAt,
				Stream: audit.Factory(p.FactoryID), Organization: owner.OrganizationID}
		},
	}
	rule := func(was Product, now time.Time) (Product, string, error) {
		next, event := was.named(at, n, now)
		return next, event, nil
	}
	return change.Put(ctx, s.db, from, kind, at.key(), when, rule, func(ctx context.Context) (err error) {
		owner, err = s.factories.Owned(ctx, caller, at.FactoryID)
		return err
	})
}

// Get returns a named product of a factory that the caller may read, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, caller auth.Principal, at Place) (Product, error) {
	p, err := factory.ReadInParallel(ctx, s.factories, caller, at.FactoryID, func(ctx context.Context) (p Product, err error) {
		_, err = s.db.Get(ctx, dynamo.Products, at.key(), &p)
		return p, err
	})
	if err == nil && p.Revision == 0 {
		err = problem.Missing()
	}
	return p, err
}

// List returns the named products of a factory in the order of their ids. It shows every write immediately. It returns
// NOT_FOUND for a factory that the caller may not read.
func (s *Store) List(ctx context.Context, caller auth.Principal, factoryID string, w dynamo.Span) (dynamo.Page[Product], error) {
	return factory.ListIn[Product](ctx, s.factories, caller, factoryID, dynamo.Selection{Table: dynamo.Products, Partition: factoryID}, w)
}

// Named returns those of a factory's products that have a name, by their ids. Each is asked for once. The caller has
// checked who asks.
func Named(ctx context.Context, db *dynamo.DB, factoryID string, ids []string) (map[string]*Product, error) {
	named := map[string]*Product{}
	var keys []dynamo.Key
	for _, id := range ids {
		if _, asked := named[id]; !asked {
			named[id] = nil
			keys = append(keys, Place{factoryID, id}.key())
		}
	}
	found, err := dynamo.GetAll[Product](ctx, db, dynamo.Products, keys)
	for i := range found {
		named[found[i].ProductID] = &found[i]
	}
	return named, err
}

func (p Place) key() dynamo.Key {
	return dynamo.Key{"factoryId": p.FactoryID, "productId": p.ProductID}
}
