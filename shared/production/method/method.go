// Package method is about production methods (recipes): how a product is made in a factory.
package method

import (
	"context"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A Method is a production method. Two may have the same name.
type Method struct {
	MethodID  string    `json:"methodId"` // UUID, version 7: ids are in the order of creation
	FactoryID string    `json:"factoryId"`
	ProductID string    `json:"productId"` // UUID, in lower case
	Name      string    `json:"name"`      // 1 to 200 characters
	CreatedAt time.Time `json:"createdAt"`
	Revision  int64     `json:"revision"` // 1: a method does not change
}

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

// A Draft is a caller's wish to create a method.
type Draft struct {
	ProductID string `json:"productId"`
	Name      string `json:"name"`
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
	// One id for all tries: an answer that was lost is found by it.
	id = uuid.Must(uuid.NewV7()).String()
	err = dynamo.Decide(func() error {
		var owner factory.Factory
		var first string
		var repeated bool
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) {
				owner, err = s.factories.Owned(ctx, caller, factoryID)
				return err
			},
			func(ctx context.Context) (err error) { first, repeated, err = claim.First(ctx, s.db); return err })
		if err != nil {
			return err
		}
		if repeated {
			id = first
			return nil
		}
		at := s.db.Now()
		m := Method{MethodID: id, FactoryID: factoryID, ProductID: d.ProductID, Name: d.Name, CreatedAt: at, Revision: 1}
		what := audit.Resource{Type: ResourceType, ID: id, Revision: m.Revision}
		parts := []dynamo.Part{
			dynamo.PutPart("method", dynamo.Recipes, methodItem{m, m.ProductID + "#" + id}, dynamo.Absent("methodId")),
			audit.Part(audit.Factory(factoryID), from, at, "ProductionMethodCreated", owner.OrganizationID, what, nil, m),
		}
		err = s.db.Commit(ctx, append(parts, claim.Parts(id, at)...)...)
		if dynamo.Refused(err, "method") {
			// The id is this call's own: an earlier try was applied and its answer lost.
			return nil
		}
		return err
	})
	return id, err
}
