package factory

import (
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
)

// List returns the factories of an organization in the byte order of their ids. It returns none
// if the caller may not read them. It reads a global index, which usually shows a change within
// a second. Reading one factory always shows its present state.
//
// Factories are never removed. A factory that is added between two pages shifts the later ones by one.
func (s *Store) List(ctx context.Context, caller auth.Principal, organizationID string, w dynamo.Span) (dynamo.Page[Factory], error) {
	if !caller.MayRead(organizationID) {
		return dynamo.Page[Factory]{}, nil
	}
	return dynamo.List[Factory](ctx, s.db,
		dynamo.Selection{Table: dynamo.Factories, Index: "byOrganization", Partition: organizationID}, w)
}

// ListIn reads a window of a list inside a factory. The first page takes one round trip, because
// the list and the factory are read in parallel. A later page is read only after the check that
// the caller may read the factory, so that strangers' offsets use no capacity of its partition.
// It returns NOT_FOUND for a factory that the caller may not read.
func ListIn[T any](ctx context.Context, s *Store, caller auth.Principal, factoryID string, of dynamo.Selection, w dynamo.Span) (dynamo.Page[T], error) {
	list := func(ctx context.Context) (dynamo.Page[T], error) { return dynamo.List[T](ctx, s.db, of, w) }
	if w.Skip == 0 {
		return ReadInParallel(ctx, s, caller, factoryID, list)
	}
	if _, err := s.Readable(ctx, caller, factoryID); err != nil {
		return dynamo.Page[T]{}, err
	}
	return list(ctx)
}

// ReadInParallel runs a read in parallel with the read of the factory, so that a list takes one round trip. It returns
// the result only if the caller may read the factory, otherwise NOT_FOUND.
func ReadInParallel[T any](ctx context.Context, s *Store, caller auth.Principal, factoryID string, read func(context.Context) (T, error)) (T, error) {
	var found, none T
	err := dynamo.Together(ctx,
		func(ctx context.Context) error { _, err := s.Readable(ctx, caller, factoryID); return err },
		func(ctx context.Context) (err error) { found, err = read(ctx); return err })
	if err != nil {
		return none, err
	}
	return found, nil
}
