package content

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"wavegate/shared/platform/input"
	"wavegate/shared/production/unit"
)

// These are the limits of a content.
const (
	maxSteps      = 100
	maxEquipment  = 40 // different machines and classes in a content
	maxMachines   = 20 // machines of a step, and of one element of it
	maxParameters = 100
	maxPoints     = 100
	maxInputs     = 50
	maxOutputs    = 20
	maxChecks     = 30
	maxDocuments  = 10
	maxAttributes = 20
)

// These rules check the texts in a content. They do not change them, because the hash covers what the caller wrote.
var (
	nameRule = &input.Text{Min: 1, Max: 200, Check: isLine, Says: lineSays(200)}
	// wordRule is the rule for short texts: material references and standards.
	wordRule         = &input.Text{Min: 1, Max: 64, Check: isLine, Says: lineSays(64)}
	attributeRule    = &input.Text{Max: 200, Check: isLine, Says: "at most 200 visible characters, without white space at either end, in Unicode's normal form NFC"}
	instructionsRule = &input.Text{Max: 4000, Check: isText, Hint: whereInText, Says: "at most 4000 visible characters, line breaks and tabs, in Unicode's normal form NFC"}
	formRule         = &input.Integer{Least: 1, Most: 1}
	unitRule         = &input.Text{Pattern: `[!-~]{1,40}`, Says: "a UCUM code"}
	unitText         = &input.Text{Min: 1, Max: unit.MaxLength} // package unit says what is wrong with it
	// digestRule accepts lower case only, because a content keeps the text as sent.
	digestRule = &input.Text{Pattern: `[0-9a-f]{64}`, Says: "64 hexadecimal digits in lower case"}
	// durationRule accepts hours, minutes and seconds of ISO 8601, at least one of them.
	durationRule = &input.Text{
		Pattern: `PT(` + hours + `(` + minutes + `)?(` + seconds + `)?|` + minutes + `(` + seconds + `)?|` + seconds + `)`,
		Says:    "a duration of hours, minutes and seconds such as PT1H30M or PT12.5S (ISO 8601)",
	}
)

const (
	hours   = `[0-9]{1,4}H`
	minutes = `[0-9]{1,4}M`
	seconds = `[0-9]{1,4}(\.[0-9]{1,3})?S`
)

func lineSays(most int) string {
	return "1 to " + strconv.Itoa(most) + " visible characters, without white space at either end, in Unicode's normal form NFC"
}

// isLine reports whether a text is one line. A content keeps the bytes that were sent, because they are hashed, so a
// text that is not in the normal form NFC is refused, not normalized.
func isLine(text string) bool {
	return input.Visible(text) && strings.TrimSpace(text) == text && norm.NFC.IsNormalString(text)
}

// isText is isLine for several lines.
func isText(text string) bool {
	return input.Visible(breaks.Replace(text)) && norm.NFC.IsNormalString(text)
}

func whereInText(text string) string { return input.Where(breaks.Replace(text)) }

var breaks = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

func pointerOf(list string, i int) string { return "/" + list + "/" + strconv.Itoa(i) }

// A reader reads one content. It remembers what several steps share.
type reader struct {
	equipment []string // the machines and classes so far
	full      bool     // there are too many of them
	units     []inUnit // that were given
}

func (r *reader) content(o *input.Object) []step {
	o.Integer("form", formRule)
	o.Object("basis", r.quantity)
	ids := distinct{}
	var steps []step
	o.Objects("steps", 0, maxSteps, func(s *input.Object) { steps = append(steps, r.step(s, ids)) })
	return steps
}

// distinct holds the previous values of a list in which each value may occur once.
type distinct map[string]bool

// check adds a fault for a value that occurred before. An empty value already has its own fault.
func (d distinct) check(o *input.Object, name, text string) {
	if text != "" && d[text] {
		o.Fault(name, "duplicate", "must be different from all others in the list")
	}
	d[text] = true
}

func (r *reader) step(o *input.Object, ids distinct) step {
	var s step
	s.id = o.Text("id", input.Name)
	ids.check(o, "id", s.id)
	o.Text("name", nameRule)
	o.OptionalObject("equipment", func(e *input.Object) { s.class, s.machines = r.equip(e) })
	o.OptionalText("setup", durationRule)
	s.run = o.OptionalObject("run", func(run *input.Object) {
		run.Text("time", durationRule)
		run.Object("per", r.quantity)
	})
	parameters, inputs, outputs, checks, documents := distinct{}, distinct{}, distinct{}, distinct{}, distinct{}
	n := 0 // parameters so far
	o.OptionalObjects("parameters", 0, maxParameters, func(p *input.Object) {
		for i, machine := range r.parameter(p, parameters, s.machines) {
			s.named = append(s.named, named{pointerOf("parameters", n) + pointerOf("overrides", i) + "/machine", machine})
		}
		n++
	})
	o.OptionalObjects("inputs", 0, maxInputs, func(m *input.Object) { r.material(m, inputs) })
	o.OptionalObjects("outputs", 0, maxOutputs, func(m *input.Object) { s.outputs = true; r.material(m, outputs) })
	o.OptionalObjects("checks", 0, maxChecks, func(c *input.Object) { r.check(c, checks) })
	o.OptionalText("instructions", instructionsRule)
	d := 0 // documents so far
	o.OptionalObjects("documents", 0, maxDocuments, func(o *input.Object) {
		only := document(o, documents, s.machines)
		s.documents = append(s.documents, only)
		for i, machine := range only {
			s.named = append(s.named, named{pointerOf("documents", d) + pointerOf("machines", i), machine})
		}
		d++
	})
	attributes(o)
	return s
}

// equip reads the equipment of a step: one class, or some machines.
func (r *reader) equip(o *input.Object) (class string, machines []string) {
	class, hasClass := o.OptionalText("class", input.Name)
	machines, hasMachines := o.OptionalTexts("machines", input.Name, 1, maxMachines)
	if hasClass == hasMachines {
		o.Fault("", "required", "must have either class or machines")
	}
	for _, name := range append(slices.Clone(machines), class) {
		if name != "" && !slices.Contains(r.equipment, name) {
			r.equipment = append(r.equipment, name)
		}
	}
	if len(r.equipment) > maxEquipment && !r.full {
		r.full = true
		o.Fault("", "length", "must not bring the number of different machines and classes in the method above "+strconv.Itoa(maxEquipment))
	}
	return class, machines
}

// quantity reads an amount, which must be more than 0, and its unit.
func (r *reader) quantity(o *input.Object) {
	if n, ok := o.Number("quantity"); ok && n <= 0 {
		o.Fault("quantity", "range", "must be more than 0")
	}
	r.unit(o, "unit", o.TextBy("unit", unitRule, unitText), "amount") // no field could say that it is meant
}

// attributes reads texts that the service does not interpret.
func attributes(o *input.Object) {
	o.OptionalObject("attributes", func(a *input.Object) { a.Names(input.Name, attributeRule, maxAttributes) })
}

func (r *reader) material(o *input.Object, seen distinct) {
	seen.check(o, "material", o.Text("material", wordRule))
	r.quantity(o)
	o.Boolean("lotTracked")
}

// document reads a document and returns the machines that it is for.
func document(o *input.Object, titles distinct, machines []string) []string {
	titles.check(o, "title", o.Text("title", nameRule))
	o.Text("url", input.HTTPSURL)
	o.Text("sha256", digestRule)
	only, _ := o.OptionalTexts("machines", input.Name, 1, maxMachines)
	for i, machine := range only {
		if notInStep(machine, machines) {
			o.FaultIn("machines", i, "reference", foreignSays)
		}
	}
	return only
}
