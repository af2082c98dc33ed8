// Package machine is about the machines of a factory.
package machine

import "time"

// A Machine is known in its factory by its code.
type Machine struct {
	FactoryID string    `json:"factoryId"`
	Code      string    `json:"code"`
	Name      string    `json:"name"` // 1 to 200 characters
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1
}

// register decides what a registration under a name makes of a machine: its next state and the event
// that tells of it; no event where nothing changes.
func (m Machine) register(factoryID, code, name string, at time.Time) (next Machine, event string) {
	next = Machine{FactoryID: factoryID, Code: code, Name: name, CreatedAt: at, UpdatedAt: at, Revision: m.Revision + 1}
	switch {
	case m.Revision == 0:
		return next, "MachineRegistered"
	case m.Name == name:
		return m, ""
	}
	next.CreatedAt = m.CreatedAt
	return next, "MachineRenamed"
}
