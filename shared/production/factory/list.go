package factory

import (
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
)

// List returns the factories of an organization in the byte order of their ids; none, where the
// caller may not know of them, as if there were none. It goes by a global index, so a change shows
// after a moment, as a rule within a second; a factory itself is always read as it is.
//
// While someone pages, a new factory moves those behind it on by one. Factories are never removed.
func (s *Store) List(ctx context.Context, caller auth.Principal, organizationID string, w dynamo.Window) (dynamo.Page[Factory], error) {
	if !caller.MayRead(organizationID) {
		return dynamo.Page[Factory]{}, nil
	}
	return dynamo.List[Factory](ctx, s.db,
		dynamo.Selection{Table: dynamo.Factories, Index: "byOrganization", Partition: organizationID}, w)
}

// ListIn reads a window of what lies in a factory. The first page takes one round trip: it is read beside the
// factory. A later one is read only once the caller is known to be one who may know of the factory, so that
// nobody else can have their offsets counted at the factory's expense. It returns NOT_FOUND for a factory that
// the caller may not know of.
func ListIn[T any](ctx context.Context, s *Store, caller auth.Principal, factoryID string, of dynamo.Selection, w dynamo.Window) (dynamo.Page[T], error) {
	list := func(ctx context.Context) (dynamo.Page[T], error) { return dynamo.List[T](ctx, s.db, of, w) }
	if w.Skip == 0 {
		return Beside(ctx, s, caller, factoryID, list)
	}
	if _, err := s.Readable(ctx, caller, factoryID); err != nil {
		return dynamo.Page[T]{}, err
	}
	return list(ctx)
}

// Beside reads what lies in a factory beside the factory itself, so that a list takes one round trip.
// It returns what was read only when the caller may know of the factory, and NOT_FOUND otherwise.
func Beside[T any](ctx context.Context, s *Store, caller auth.Principal, factoryID string, read func(context.Context) (T, error)) (T, error) {
	var found, none T
	err := dynamo.Together(ctx,
		func(ctx context.Context) error { _, err := s.Readable(ctx, caller, factoryID); return err },
		func(ctx context.Context) (err error) { found, err = read(ctx); return err })
	if err != nil {
		return none, err
	}
	return found, nil
}
