package method

import (
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/factory"
)

// List returns the methods of a factory in the order of their creation. A filter selects those of one product, or those
// with a status of their latest version. With a status it reads a global index, which usually shows a change within a
// second. Otherwise it shows every write immediately. It returns NOT_FOUND for a factory that the caller may not read.
//
// Methods are never removed and new ones come last, so pages stay stable. There are two exceptions. If the clocks of
// two containers differ, a new method can come before others and shift them by one. With a status, a method that
// changes its status shifts those after it.
func (s *Store) List(ctx context.Context, caller auth.Principal, factoryID, productID string, status Status, w dynamo.Span) (dynamo.Page[Method], error) {
	in := dynamo.Selection{Table: dynamo.Methods, Partition: factoryID}
	switch {
	case productID != "":
		// Every id of a method sorts between # and ~.
		in.Index, in.Least, in.Most = "byProduct", productID+"#", productID+"#~"
	case status != "":
		in.Index, in.Partition = "byStatus", factoryStatus(factoryID, status)
	}
	return factory.ListIn[Method](ctx, s.factories, caller, factoryID, in, w)
}
