package method

import (
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/factory"
)

// List returns the methods of a factory in the order of their creation: those of one product, or those
// whose latest version has a status, where one of them is not empty. By status the list goes by a global
// index, and a change shows after a moment, as a rule within a second; what was written is listed at once
// otherwise. It returns NOT_FOUND for a factory that the caller may not know of.
//
// Methods are never removed and new ones come last, so while someone pages nothing moves, except where
// the clocks of two containers differ: a method that was created within that difference can come
// before others and move them on by one. By status, whatever changes its status moves those behind it.
func (s *Store) List(ctx context.Context, caller auth.Principal, factoryID, productID string, status Status, w dynamo.Window) (dynamo.Page[Method], error) {
	in := dynamo.Selection{Table: dynamo.Recipes, Partition: factoryID}
	switch {
	case productID != "":
		// Every id of a method sorts between # and ~.
		in.Index, in.Least, in.Most = "byProduct", productID+"#", productID+"#~"
	case status != "":
		in.Index, in.Partition = "byStatus", factoryStatus(factoryID, status)
	}
	return factory.ListIn[Method](ctx, s.factories, caller, factoryID, in, w)
}
