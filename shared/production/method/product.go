package method

import (
	"context"
	"fmt"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/production/product"
)

// A Made is a method and the product that it makes, as API answers show them.
type Made struct {
	Method
	// Product is missing if nobody has named the product.
	Product *product.Details `json:"product,omitempty"`
	named   int64            // the revision of the product
}

// ETag is the method's entity tag. It changes with the method, and with the name of its product.
func (m Made) ETag() string {
	if m.named == 0 {
		return input.Revision(m.Revision)
	}
	return fmt.Sprintf(`"%d.%d"`, m.Revision, m.named)
}

// made returns methods of one factory with their products.
func (s *Store) made(ctx context.Context, factoryID string, methods ...Method) ([]Made, error) {
	var ids []string
	for _, m := range methods {
		ids = append(ids, m.ProductID)
	}
	named, err := product.Named(ctx, s.db, factoryID, ids)
	if err != nil {
		return nil, err
	}
	var all []Made
	for _, m := range methods {
		one := Made{Method: m}
		if p := named[m.ProductID]; p != nil {
			one.Product, one.named = &p.Details, p.Revision
		}
		all = append(all, one)
	}
	return all, nil
}

// Show returns a method as Get, with its product.
func (s *Store) Show(ctx context.Context, caller auth.Principal, factoryID, methodID string) (Made, error) {
	m, err := s.Get(ctx, caller, factoryID, methodID)
	if err != nil {
		return Made{}, err
	}
	all, err := s.made(ctx, factoryID, m)
	if err != nil {
		return Made{}, err
	}
	return all[0], nil
}

// ShowList returns a page of List with the products of its methods.
func (s *Store) ShowList(ctx context.Context, caller auth.Principal, of Filter, w dynamo.Span) (shown dynamo.Page[Made], err error) {
	page, err := s.List(ctx, caller, of.FactoryID, of.ProductID, of.Status, w)
	if err != nil {
		return shown, err
	}
	shown.More, shown.Last = page.More, page.Last
	shown.Items, err = s.made(ctx, of.FactoryID, page.Items...)
	return shown, err
}
