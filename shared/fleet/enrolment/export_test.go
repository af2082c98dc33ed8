package enrolment

import (
	"context"
	"slices"

	"wavegate/shared/platform/dynamo"
)

// Fill makes boxes wait, without looking at those that wait already.
func (s *Store) Fill(ctx context.Context, e Enrolment, all []Waiting) error {
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
