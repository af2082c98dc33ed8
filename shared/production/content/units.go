package content

import (
	"fmt"
	"strings"

	"wavegate/shared/platform/input"
	"wavegate/shared/production/unit"
)

// An inUnit is a unit that a content gives, where, and for which quantity, if it says so.
type inUnit struct{ pointer, code, quantity string }

// inUnit reads an optional unit, and of what it is one. It reports whether a unit is given.
func (r *reader) inUnit(o *input.Object, name, quantity string) bool {
	code, given := o.OptionalTextBy(name, unitRule, unitText)
	of, said := o.OptionalText(quantity, wordRule)
	if said && !given {
		o.Fault(quantity, "exclusive", "is only allowed with "+name)
	}
	m, doubtful := unit.Mistaken(code)
	switch {
	case !doubtful || !said || strings.EqualFold(of, m.Quantity):
		r.unit(o, name, code, of)
	case strings.EqualFold(of, m.MeantFor):
		o.Fault(name, "format", fmt.Sprintf("must be %s for %s; %s is %s, a unit of %s", m.Meant, m.MeantFor, code, unit.Name(code), m.Quantity))
	default:
		o.Fault(quantity, "format", fmt.Sprintf("must be %s, of which %s (%s) is a unit", m.Quantity, code, unit.Name(code)))
	}
	return given
}

// unit keeps a unit, or adds a fault if it is not valid.
func (r *reader) unit(o *input.Object, name, code, quantity string) {
	if code == "" {
		return
	}
	if err := unit.Check(code); err != nil {
		o.Fault(name, "format", "must be "+err.Error())
		return
	}
	r.units = append(r.units, inUnit{o.Pointer(name), code, quantity})
}

// Units are the full names of the units that the content has, by their codes.
func (c Content) Units() map[string]string {
	if len(c.units) == 0 {
		return nil
	}
	names := map[string]string{}
	for _, u := range c.units {
		names[u.code] = unit.Name(u.code)
	}
	return names
}

// A Doubt is a part of a content that is probably not what its author meant.
type Doubt struct {
	Pointer string `json:"pointer"`
	Kind    string `json:"kind"` // doubtful, or unreadable for the whole
	Detail  string `json:"detail"`
}

// Doubts are units that are probably not meant, with pointers into the content: each code once, where it is first.
func (c Content) Doubts() []Doubt {
	var list []Doubt
	seen := distinct{}
	for _, u := range c.units {
		m, doubtful := unit.Mistaken(u.code)
		if !doubtful || u.quantity != "" || seen[u.code] {
			continue
		}
		seen[u.code] = true
		list = append(list, Doubt{Pointer: u.pointer, Kind: "doubtful", Detail: fmt.Sprintf("%s is %s, a unit of %s; for %s, write %s",
			u.code, unit.Name(u.code), m.Quantity, m.MeantFor, m.Meant)})
	}
	return list
}

// Warning says the doubts in a line; empty if there are none.
func (c Content) Warning() string {
	var lines []string
	for _, d := range c.Doubts() {
		lines = append(lines, d.Pointer+": "+d.Detail)
	}
	return strings.Join(lines, ". ")
}
