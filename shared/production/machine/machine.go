// Package machine is about the machines of a factory.
package machine

import (
	"slices"
	"time"

	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/value"
)

// A Machine is known in its factory by its code.
type Machine struct {
	FactoryID string `json:"factoryId"`
	Code      string `json:"code"`
	Name      string `json:"name"` // 1 to 200 characters
	// Classes are the classes of equipment that the machine is of; production methods name them.
	Classes   []string  `json:"classes,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1
}

// ChangedAt is the time of the machine's last change.
func (m Machine) ChangedAt() time.Time { return m.UpdatedAt }

// A Registration is what an engineer says about a machine.
type Registration struct {
	Name string
	// Classes, where not nil, are those that the machine is of from now on.
	Classes []string
}

// maxClasses is how many classes a machine can be of.
const maxClasses = 20

// ClassesOf reads the optional field classes: nil where it is left out.
func ClassesOf(body *fields.Object) []string {
	classes, given := body.Texts("classes", 0, maxClasses, value.Name)
	if given && classes == nil {
		classes = []string{}
	}
	return classes
}

// register decides what a registration makes of a machine: its next state and the event that tells of it;
// no event where nothing changes.
func (m Machine) register(factoryID, code string, r Registration, at time.Time) (next Machine, event string) {
	next = Machine{FactoryID: factoryID, Code: code, Name: r.Name, Classes: m.Classes, CreatedAt: m.CreatedAt, UpdatedAt: at, Revision: m.Revision + 1}
	if r.Classes != nil {
		// Without one the list is nil: an empty list is stored as one, and no read shows it.
		next.Classes = append([]string(nil), r.Classes...)
		slices.Sort(next.Classes)
	}
	switch {
	case m.Revision == 0:
		next.CreatedAt = at
		return next, "MachineRegistered"
	case m.Name != r.Name:
		return next, "MachineRenamed"
	case !slices.Equal(m.Classes, next.Classes):
		return next, "MachineClassesChanged"
	}
	return m, ""
}
