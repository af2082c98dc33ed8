package enrolment

import (
	"context"
	"slices"

	"wavegate/shared/platform/dynamo"
)

// Fill makes boxes wait beside one that waits.
func (s *Store) Fill(ctx context.Context, e Enrolment, all []Waiting) error {
	c := crowd{ID: e.ID, Part: theCrowd, Expires: e.expires(), Revision: 2, Boxes: 1 + len(all)}
	if err := s.db.Commit(ctx, dynamo.TransactPut("crowd", dynamo.Enrolments, nil, c, dynamo.Condition{})); err != nil {
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
