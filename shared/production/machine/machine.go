// Package machine keeps the machines of a factory.
package machine

import (
	"slices"
	"time"

	"wavegate/shared/platform/input"
)

// A Machine is known in its factory by its code.
type Machine struct {
	FactoryID string `json:"factoryId"`
	Code      string `json:"code"`
	Name      string `json:"name"` // 1 to 200 characters
	// Classes are the machine's equipment classes; production methods name them.
	Classes   []string  `json:"classes,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1
}

// ChangedAt is the time of the machine's last change.
func (m Machine) ChangedAt() time.Time { return m.UpdatedAt }

// A Registration is the input for a machine.
type Registration struct {
	Name string
	// Classes, if not nil, replaces the machine's classes.
	Classes []string
}

const maxClasses = 20

// Body is what is said of a machine.
var Body = &input.Shape{Fields: input.Fields{
	{Name: "name", Is: input.DisplayName, Required: true},
	{Name: "classes", Is: &input.List{Of: input.Name, Most: maxClasses}},
}}

// ClassesOf reads the optional field classes. It returns nil if the field is missing.
func ClassesOf(body *input.Object) []string {
	classes, given := body.Texts("classes")
	if given && classes == nil {
		classes = []string{}
	}
	return classes
}

// register decides the result of a registration: the machine's next state and the name of the
// event. The event is empty if nothing changes.
func (m Machine) register(factoryID, code string, r Registration, at time.Time) (next Machine, event string) {
	next = Machine{FactoryID: factoryID, Code: code, Name: r.Name, Classes: m.Classes, CreatedAt: m.CreatedAt, UpdatedAt: at, Revision: m.Revision + 1}
	if r.Classes != nil {
		// An empty list becomes nil. As an empty list it would be stored, but never shown.
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
