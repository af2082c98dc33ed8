package method

import (
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/factory"
)

// List returns the methods of a factory in the order of their creation; those of one product, where
// it is not empty. What was written is listed at once. It returns NOT_FOUND for a factory that the
// caller may not know of.
//
// Methods are never removed and new ones come last, so while someone pages nothing moves, but where
// the clocks of two containers differ: a method that was created within that difference can come
// before others and move them on by one.
func (s *Store) List(ctx context.Context, caller auth.Principal, factoryID, productID string, w dynamo.Window) (dynamo.Page[Method], error) {
	in := dynamo.Selection{Table: dynamo.Recipes, Partition: factoryID}
	if productID != "" {
		// Every id of a method sorts between # and ~.
		in.Index, in.Least, in.Most = "byProduct", productID+"#", productID+"#~"
	}
	return factory.ListIn[Method](ctx, s.factories, caller, factoryID, in, w)
}
