package enrolment

import (
	"context"
	"slices"

	"wavegate/shared/platform/dynamo"
)

// Fill makes boxes wait as an earlier release did, which did not count them.
func (s *Store) Fill(ctx context.Context, e Enrolment, all []Waiting) error {
	if err := s.db.Commit(ctx, dynamo.TransactDelete("crowd", dynamo.Enrolments, key(e.ID, theCrowd), dynamo.Condition{})); err != nil {
		return err
	}
	for some := range slices.Chunk(all, 100) {
		var parts []dynamo.TransactItem
		for _, w := range some {
			parts = append(parts, w.write(e))
		}
		if err := s.db.Commit(ctx, parts...); err != nil {
			return err
		}
	}
	return nil
}

// NetworkOf is what is stored of an address.
var NetworkOf = networkOf
