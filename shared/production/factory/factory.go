// Package factory is about factories: which organization owns one, and so who may know of it.
package factory

import (
	"time"

	"wavegate/shared/platform/problem"
)

// A Factory belongs to one organization for ever.
type Factory struct {
	FactoryID      string    `json:"factoryId"`
	OrganizationID string    `json:"organizationId"`
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
	Revision       int64     `json:"revision"` // from 1
}

// A Registration is what a platform owner says about a factory.
type Registration struct{ OrganizationID, Name string }

// register decides what a registration makes of a factory: its next state and the event that tells of
// it; no event where nothing changes. Another organization than the factory has is CONFLICT.
func (f Factory) register(id string, r Registration, at time.Time) (next Factory, event string, err error) {
	next = Factory{FactoryID: id, OrganizationID: r.OrganizationID, Name: r.Name, CreatedAt: at, UpdatedAt: at, Revision: f.Revision + 1}
	switch {
	case f.Revision == 0:
		return next, "FactoryRegistered", nil
	case f.OrganizationID != r.OrganizationID:
		return f, "", problem.New(problem.Conflict, "The factory belongs to another organization, and a factory never changes its organization.")
	case f.Name == r.Name:
		return f, "", nil
	}
	next.CreatedAt = f.CreatedAt
	return next, "FactoryRenamed", nil
}
