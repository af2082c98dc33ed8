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
