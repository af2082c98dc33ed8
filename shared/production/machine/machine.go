// Package machine stores the machines of factories.
package machine

import (
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
)

// A Machine is identified in its factory by its code.
type Machine struct {
	FactoryID string `json:"factoryId"`
	Code      string `json:"code"`
	Name      string `json:"name"` // 1 to 200 characters
	// Classes are the machine's equipment classes; production methods name them.
	Classes []string `json:"classes,omitempty"`
	// ClassesSince says since when the machine has had each class. An approval of a version covers the machines that have
	// the class by then.
	ClassesSince map[string]time.Time `json:"classesSince,omitempty"`
	// ClassTerms says from when until when the machine had each class, because a recall also concerns a machine that lost
	// its class; see Terms.
	ClassTerms []Term `json:"classTerms,omitempty"`
	// Admissions are the signatures for this machine alone, the latest last.
	Admissions []Admission `json:"admissions,omitempty"`
	// Scrapped is a person's word that the machine is gone; nil: it is there. Its history stays.
	Scrapped *Scrapping `json:"scrapped,omitempty"`
	// Ordinal is the machine's number in its factory, from 1 without gaps, so that a removed row is found.
	Ordinal int64 `json:"ordinal,omitempty"`
	// EdgeID is the box that speaks for the machine; empty if it has none.
	EdgeID    string    `json:"edgeId,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1
	dynamo.Unknown
}

// ChangedAt is the time of the machine's last change.
func (m Machine) ChangedAt() time.Time { return m.UpdatedAt }

// A Registration is the input for a machine.
type Registration struct {
	Name string
	// Classes, if not nil, replaces the machine's classes.
	Classes []string
	// EdgeID, if not nil, replaces the machine's box; empty removes it.
	EdgeID *string
	// Admission is the reason of a signature that admits the machine; empty: none is given.
	Admission string
	// Scrapped is the reason of a signature that the machine is gone; empty: none is given. Returned is set if it is there again.
	Scrapped string
	Returned bool
}

const maxClasses = 20

// A Place is where a machine is.
type Place struct{ FactoryID, Code string }

// PlaceOf reads the path parameters factoryId and code.
func PlaceOf(in *input.Reader) Place {
	return Place{in.Path("factoryId", input.Slug), in.Path("code", input.Name)}
}

// RegistrationOf reads a machine.
func RegistrationOf(body *input.Object) Registration {
	r := Registration{Name: body.Text("name", input.DisplayName)}
	classes, given := body.OptionalTexts("classes", input.Name, 0, maxClasses)
	if r.Classes = classes; given && classes == nil {
		r.Classes = []string{}
	}
	r.EdgeID = body.ClearableText("edgeId", input.EdgeID)
	body.OptionalObject("admission", func(o *input.Object) { r.Admission = o.Text("reason", audit.ReasonRule) })
	_, r.Returned = body.ClearableObject("scrapped", func(o *input.Object) { r.Scrapped = o.Text("reason", audit.ReasonRule) })
	if r.Scrapped != "" && (given || r.Admission != "") {
		body.Fault("scrapped", "exclusive", "must not be given with classes or admission: a machine that is gone has none")
	}
	return r
}

// A signing is who makes a change, and the change's number in the factory; see factory.Factory.Changes.
type signing struct {
	Person
	number int64
}

// register decides the result of a registration: the machine's next state and the name of the
// event. The event is empty if nothing changes.
func (m Machine) register(factoryID, code string, r Registration, by signing, at time.Time) (next Machine, event string, err error) {
	next = m
	next.FactoryID, next.Code, next.Name = factoryID, code, r.Name
	next.UpdatedAt, next.Revision = at, m.Revision+1
	if r, next.Scrapped, err = m.scrap(r, by, at); err != nil {
		return m, "", err
	}
	if r.Classes != nil {
		// Make an empty list nil: an empty list would be stored, but never shown.
		next.Classes = append([]string(nil), r.Classes...)
		slices.Sort(next.Classes)
		next.ClassesSince = m.since(next.Classes, at)
		if !slices.Equal(m.Classes, next.Classes) {
			next.ClassTerms = m.termsWith(next.Classes, by.number, at)
		}
	}
	if r.EdgeID != nil {
		next.EdgeID = *r.EdgeID
	}
	if r.Admission != "" {
		if next.Admissions, err = m.admitted(r.Admission, by, at); err != nil {
			return m, "", err
		}
	}
	switch {
	case m.Revision == 0:
		next.CreatedAt = at
		return next, "MachineRegistered", nil
	case m.Scrapped == nil && next.Scrapped != nil:
		return next, "MachineScrapped", nil
	case m.Scrapped != nil && next.Scrapped == nil:
		return next, "MachineReturned", nil
	case m.Name != r.Name:
		return next, "MachineRenamed", nil
	case !slices.Equal(m.Classes, next.Classes):
		return next, "MachineClassesChanged", nil
	case m.EdgeID != next.EdgeID:
		return next, "MachineBoxChanged", nil
	case r.Admission != "":
		return next, "MachineAdmitted", nil
	}
	return m, "", nil
}

// counts reports whether the change to next is one that the factory counts.
func (m Machine) counts(next Machine) bool {
	return m.Revision == 0 || !slices.Equal(m.Classes, next.Classes) || m.EdgeID != next.EdgeID || len(m.Admissions) != len(next.Admissions) ||
		(m.Scrapped == nil) != (next.Scrapped == nil)
}

// since returns since when the machine has had each of the classes, if it gets new ones now.
func (m Machine) since(classes []string, at time.Time) map[string]time.Time {
	var all map[string]time.Time // nil without classes, like the stored value
	for _, class := range classes {
		if all == nil {
			all = map[string]time.Time{}
		}
		all[class] = at
		if since, had := m.ClassesSince[class]; had {
			all[class] = since
		}
	}
	return all
}
