// Package factory is about factories: which organization owns one, and so who may know of it.
package factory

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
)

// A Factory belongs to one organization for ever.
type Factory struct {
	FactoryID      string    `json:"factoryId"`
	OrganizationID string    `json:"organizationId"`
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
	Revision       int64     `json:"revision"` // from 1
}

// ResourceType is that of factories in the audit trail.
const ResourceType = "factory"

// A Store keeps factories.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

func (s *Store) find(ctx context.Context, id string) (f Factory, err error) {
	_, err = s.db.Get(ctx, dynamo.Factories, dynamo.Key{"factoryId": id}, &f)
	return f, err
}

// Readable returns a factory that the caller may know of. Any other is NOT_FOUND, whether it exists
// or not.
func (s *Store) Readable(ctx context.Context, caller auth.Principal, id string) (Factory, error) {
	f, err := s.find(ctx, id)
	if err == nil && (f.Revision == 0 || !caller.MayRead(f.OrganizationID)) {
		return Factory{}, problem.Missing()
	}
	return f, err
}

// Owned returns a factory of the caller's own organization, in which the caller may change things if
// their role allows it. Any other is NOT_FOUND, whether it exists or not.
func (s *Store) Owned(ctx context.Context, caller auth.Principal, id string) (Factory, error) {
	f, err := s.find(ctx, id)
	if err == nil && (f.Revision == 0 || !caller.Owns(f.OrganizationID)) {
		return Factory{}, problem.Missing()
	}
	return f, err
}

// Put registers a factory or renames it, and tells whether it is new. It returns CONFLICT for another
// organization than the factory has, and PRECONDITION_FAILED.
func (s *Store) Put(ctx context.Context, from audit.Origin, id, organizationID, name string, when request.Preconditions) (created bool, err error) {
	err = dynamo.Decide(func() error {
		was, err := s.find(ctx, id)
		if err != nil {
			return err
		}
		created = was.Revision == 0 // of the last decision: an earlier one may have lost a race
		if err := when.Check(request.Revision(was.Revision)); err != nil {
			return err
		}
		if was.Revision > 0 && was.OrganizationID != organizationID {
			return problem.New(problem.Conflict, "The factory belongs to another organization, and a factory never changes its organization.")
		}
		if was.Revision > 0 && was.Name == name {
			return nil
		}
		at := audit.NotBefore(s.db.Now(), was.UpdatedAt)
		next := Factory{FactoryID: id, OrganizationID: organizationID, Name: name,
			CreatedAt: at, UpdatedAt: at, Revision: was.Revision + 1}
		event, before := "FactoryRegistered", any(nil)
		if was.Revision > 0 {
			next.CreatedAt = was.CreatedAt
			event, before = "FactoryRenamed", was
		}
		what := audit.Resource{Type: ResourceType, ID: id, Revision: next.Revision}
		return s.db.Commit(ctx,
			dynamo.PutPart("factory", dynamo.Factories, next, dynamo.AtRevision("factoryId", was.Revision)),
			audit.Part(audit.Platform, from, at, event, organizationID, what, before, next))
	})
	return created, err
}
