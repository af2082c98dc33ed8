// Package plant reads when the plants of boxes take updates. Production keeps the factories; this is the part of one that the
// fleet needs.
package plant

import (
	"context"

	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
)

// A Plant is a factory as boxes see it.
type Plant struct {
	FactoryID      string            `json:"factoryId"`
	OrganizationID string            `json:"organizationId,omitempty"`
	Updates        *calendar.Updates `json:"updates"` // nil: always
}

// Get returns a plant. One that does not exist takes updates always.
func Get(ctx context.Context, db *dynamo.DB, factoryID string) (p Plant, err error) {
	_, err = db.GetEventually(ctx, dynamo.Factories, dynamo.Key{"factoryId": factoryID}, &p)
	return p, err
}

// GetAll returns those of some plants that exist.
func GetAll(ctx context.Context, db *dynamo.DB, ids []string) ([]Plant, error) {
	keys := make([]dynamo.Key, len(ids))
	for i, id := range ids {
		keys[i] = dynamo.Key{"factoryId": id}
	}
	return dynamo.GetAll[Plant](ctx, db, dynamo.Factories, keys)
}
