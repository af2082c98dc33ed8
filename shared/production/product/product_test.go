package product

import (
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

func TestNamed_ByPresentProduct(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := made.Add(time.Hour)
	place := Place{"munich-1", "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11"}
	of := func(d Details, changed time.Time, revision int64) Product {
		return Product{FactoryID: place.FactoryID, ProductID: place.ProductID, Details: d, CreatedAt: made, UpdatedAt: changed, Revision: revision}
	}
	there := of(Details{Name: "Housing", Number: "4711", ProductRevision: "B", Status: Active}, made, 2)
	fresh := of(Details{Name: "Housing", Status: Active}, at, 1)
	fresh.CreatedAt = at
	for name, c := range map[string]struct {
		was   Product
		wish  Naming
		next  Product
		event string
	}{
		"new":               {Product{}, Naming{Name: "Housing"}, fresh, "ProductNamed"},
		"what is omitted":   {there, Naming{Name: "Housing"}, there, ""},
		"the same":          {there, Naming{"Housing", new("4711"), new("B"), Active}, there, ""},
		"another name":      {there, Naming{Name: "Lid"}, of(Details{"Lid", "4711", "B", Active}, at, 3), "ProductChanged"},
		"retired":           {there, Naming{Name: "Housing", Status: Retired}, of(Details{"Housing", "4711", "B", Retired}, at, 3), "ProductChanged"},
		"number removed":    {there, Naming{Name: "Housing", Number: new("")}, of(Details{"Housing", "", "B", Active}, at, 3), "ProductChanged"},
		"the next revision": {there, Naming{Name: "Housing", ProductRevision: new("C")}, of(Details{"Housing", "4711", "C", Active}, at, 3), "ProductChanged"},
	} {
		t.Run(name, func(t *testing.T) {
			next, event := c.was.named(place, c.wish, at)
			expect.Equal(t, next, c.next, "got")
			expect.Equal(t, event, c.event, "the event is")
		})
	}
}
