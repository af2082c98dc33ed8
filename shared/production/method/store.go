package method

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// ResourceType is that of production methods in the audit trail.
const ResourceType = "production-method"

// A Store keeps production methods.
type Store struct {
	db        *dynamo.DB
	factories *factory.Store
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db: db, factories: factory.NewStore(db)} }

// methodItem is a method with the key of the order by product.
type methodItem struct {
	Method
	ProductMethod string `json:"productMethod"`
}

// kind tells of methods of a factory. Its owner is read before a method is made.
func kind(owner *factory.Factory) change.Kind[Method] {
	return change.Kind[Method]{
		Type: ResourceType, Table: dynamo.Recipes, Key: "methodId",
		State: func(m Method) change.State {
			return change.State{ID: m.MethodID, Revision: m.Revision, ChangedAt: m.CreatedAt,
				Stream: audit.Factory(m.FactoryID), Organization: owner.OrganizationID}
		},
		Item: func(m Method) any { return methodItem{m, m.ProductID + "#" + m.MethodID} },
	}
}

// Get returns a method of a factory that the caller may know of, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, caller auth.Principal, factoryID, methodID string) (Method, error) {
	var m Method
	var found bool
	err := dynamo.Together(ctx,
		func(ctx context.Context) error { _, err := s.factories.Readable(ctx, caller, factoryID); return err },
		func(ctx context.Context) (err error) {
			found, err = s.db.Get(ctx, dynamo.Recipes, dynamo.Key{"factoryId": factoryID, "methodId": methodID}, &m)
			return err
		})
	if err == nil && !found {
		err = problem.Missing()
	}
	if err != nil {
		return Method{}, err
	}
	return m, nil
}

// Create creates a method in a factory of the caller's organization and returns its id; the id of the
// first call where the claim was used before. It returns NOT_FOUND for any other factory and
// IDEMPOTENCY_KEY_REUSED.
func (s *Store) Create(ctx context.Context, caller auth.Principal, from audit.Origin, factoryID string, d Draft, claim idempotency.Claim) (id string, err error) {
	var owner factory.Factory
	return change.Create(ctx, s.db, from, claim,
		func(set *change.Set, id string) error {
			change.Record(set, kind(&owner), Method{}, d.create(id, factoryID, set.After(time.Time{})), "ProductionMethodCreated")
			return nil
		},
		func(ctx context.Context) (err error) {
			owner, err = s.factories.Owned(ctx, caller, factoryID)
			return err
		})
}
