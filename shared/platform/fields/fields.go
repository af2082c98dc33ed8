// Package fields reads the fields of JSON objects from untrusted callers, including nested
// objects and lists. Field names must match exactly. It collects every fault with the JSON
// pointer of its place (RFC 6901), so that a caller can correct a document in one step.
package fields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/strictjson"
	"wavegate/shared/platform/value"
)

// Faults collects the faults of one document, in the order in which they are found. Their number
// is limited by the size of the body, and problem.Document limits how many are shown. The zero
// value is ready to use.
type Faults struct{ list []problem.Fault }

// Add adds a fault.
func (f *Faults) Add(fault problem.Fault) { f.list = append(f.list, fault) }

// List returns the faults.
func (f *Faults) List() []problem.Fault { return f.list }

// Copy returns a copy, to which other faults can be added.
func (f *Faults) Copy() Faults { return Faults{slices.Clone(f.list)} }

// An Object is a JSON object that is being read. Read every field, then call Unread. Objects
// inside it are read on their own.
type Object struct {
	faults  *Faults
	source  []byte
	pointer string
	members []strictjson.Member
	asked   []string
}

// Of starts reading an object that strictjson.Check accepted. Its faults are added to faults.
func Of(text []byte, faults *Faults) *Object {
	return &Object{faults: faults, source: text, members: strictjson.Members(text)}
}

// Source is the text that Of was given.
func (o *Object) Source() []byte { return o.source }

// Unread adds to faults the fields that were not read and those that occur twice.
func (o *Object) Unread(faults *Faults) {
	seen := map[string]bool{}
	for _, m := range o.members {
		switch {
		case seen[m.Name]:
			faults.Add(problem.Fault{Pointer: o.at(m.Name), Code: "duplicate", Detail: "must be given once"})
		case !slices.Contains(o.asked, m.Name):
			faults.Add(problem.Fault{Pointer: o.at(m.Name), Code: "unknown", Detail: "is not a field of this operation"})
		}
		seen[m.Name] = true
	}
}

// Fault adds a fault of a field. An empty name means the object itself.
func (o *Object) Fault(name, code, detail string) {
	o.faults.Add(problem.Fault{Pointer: o.at(name), Code: code, Detail: detail})
}

// FaultIn adds a fault of an element of a list.
func (o *Object) FaultIn(list string, i int, code, detail string) {
	o.faults.Add(problem.Fault{Pointer: o.at(list) + "/" + strconv.Itoa(i), Code: code, Detail: detail})
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func (o *Object) at(name string) string {
	if name == "" {
		return o.pointer
	}
	return o.pointer + "/" + escaper.Replace(name)
}

// find returns a field, optionally only if it has one of the given kinds. A field that occurs
// twice is found once.
func (o *Object) find(name string, kinds ...strictjson.Kind) (raw json.RawMessage, given, usable bool) {
	o.asked = append(o.asked, name)
	for _, m := range o.members {
		if m.Name != name {
			continue
		}
		if kind := strictjson.KindOf(m.Value); !slices.Contains(kinds, kind) {
			o.Fault(name, "type", "must be "+string(kinds[0])+", not "+string(kind))
			return nil, true, false
		}
		return m.Value, true, true
	}
	return nil, false, false
}

// Missing adds the fault that a required field is missing.
func (o *Object) Missing(name string) { o.Fault(name, "required", "is required") }

// Require adds the fault that at least one of some fields is required.
func (o *Object) Require(names ...string) {
	o.Fault("", "required", "must have at least one of "+strings.Join(names, ", "))
}

// Text returns a required string.
func (o *Object) Text(name string, rule *value.Text) string {
	text, given := o.OptionalText(name, rule)
	if !given {
		o.Missing(name)
	}
	return text
}

// OptionalText returns an optional string. null is refused.
func (o *Object) OptionalText(name string, rule *value.Text) (text string, given bool) {
	raw, given, usable := o.find(name, strictjson.String)
	if !usable {
		return "", given
	}
	return o.text(name, raw, rule), true
}

// Null reports whether a field is given as null, which is then no fault.
func (o *Object) Null(name string) bool {
	for _, m := range o.members {
		if m.Name == name && strictjson.KindOf(m.Value) == strictjson.Null {
			o.asked = append(o.asked, name)
			return true
		}
	}
	return false
}

// ClearableText returns an optional string: nil if it is missing, and an empty string for null,
// which clears the value.
func (o *Object) ClearableText(name string, rule *value.Text) *string {
	if o.Null(name) {
		return new(string)
	}
	text, given := o.OptionalText(name, rule)
	if !given {
		return nil
	}
	return &text
}

func (o *Object) text(name string, raw json.RawMessage, rule *value.Text) string {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		o.Fault(name, "type", "must be a string")
		return ""
	}
	kept, code, detail := rule.Apply(text)
	if code != "" {
		o.Fault(name, code, detail)
	}
	return kept
}

// OptionalInteger returns an optional whole number in any spelling: 10, 10.0 and 1e1 are the
// same.
func (o *Object) OptionalInteger(name string, rule *value.Integer) (n int64, given bool) {
	raw, given, usable := o.find(name, strictjson.Number)
	if !usable {
		return 0, given
	}
	n, ok := strictjson.Integer(string(raw))
	if !ok || !rule.Accepts(n) {
		o.Fault(name, "range", "must be "+rule.Says())
	}
	return n, true
}

// Integer is OptionalInteger for a required number.
func (o *Object) Integer(name string, rule *value.Integer) int64 {
	n, given := o.OptionalInteger(name, rule)
	if !given {
		o.Missing(name)
	}
	return n
}

// These bound the numbers of OptionalNumber, on both sides of zero.
const (
	Largest  = 1e15
	Smallest = 1e-15
	// Digits is how many significant digits a number may have; float64 keeps that many.
	Digits = 15
)

// OptionalNumber returns an optional number of at most 15 significant digits: 0, or from 1e-15
// to 1e15, positive or negative. ok tells whether it was given and is valid.
func (o *Object) OptionalNumber(name string) (n float64, given, ok bool) {
	raw, given, usable := o.find(name, strictjson.Number)
	if !usable {
		return 0, given, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	digits := strictjson.Significant(string(raw))
	size := max(n, -n)
	if err != nil || size > Largest || digits > 0 && size < Smallest {
		o.Fault(name, "range", "must be 0, or from 1e-15 to 1e15 or from -1e15 to -1e-15")
		return 0, true, false
	}
	if digits > Digits {
		o.Fault(name, "format", fmt.Sprintf("must have at most %d significant digits, not %d", Digits, digits))
		return 0, true, false
	}
	return n, true, true
}

// Boolean returns an optional boolean; the default is false.
func (o *Object) Boolean(name string) bool {
	b, _ := o.OptionalBoolean(name)
	return b
}

// OptionalBoolean returns an optional boolean.
func (o *Object) OptionalBoolean(name string) (b, given bool) {
	raw, given, usable := o.find(name, strictjson.Boolean)
	return usable && raw[0] == 't', given
}

// Open takes whatever further fields the object has. It is for what programs of others send, which nobody here can
// correct.
func (o *Object) Open() {
	for _, m := range o.members {
		o.asked = append(o.asked, m.Name)
	}
}

// RequiredObject is Object for an object that has to be given.
func (o *Object) RequiredObject(name string, read func(*Object)) {
	if !o.Object(name, read) {
		o.Missing(name)
	}
}

// Object reads an object that may be left out, and tells whether it was given. The fields that
// read does not ask for are faults.
func (o *Object) Object(name string, read func(*Object)) (given bool) {
	raw, given, usable := o.find(name, strictjson.Object)
	if usable {
		o.inner(o.at(name), raw, read)
	}
	return given
}

func (o *Object) inner(pointer string, raw json.RawMessage, read func(*Object)) {
	inside := &Object{faults: o.faults, pointer: pointer, members: strictjson.Members(raw)}
	read(inside)
	inside.Unread(o.faults)
}

// Texts returns an optional list of least to most different strings. A faulty element becomes an
// empty string.
func (o *Object) Texts(name string, least, most int, rule *value.Text) (texts []string, given bool) {
	elements, given := o.list(name, least, most)
	list := &Object{faults: o.faults, pointer: o.at(name)}
	for i, raw := range elements {
		text := ""
		if kind := strictjson.KindOf(raw); kind != strictjson.String {
			o.FaultIn(name, i, "type", "must be a string, not "+string(kind))
		} else if text = list.text(strconv.Itoa(i), raw, rule); text != "" && slices.Contains(texts, text) {
			o.FaultIn(name, i, "duplicate", "must not be given twice")
		}
		texts = append(texts, text)
	}
	return texts, given
}

// Strings returns the strings of a list and leaves out whatever else is in it. The list may be left out.
func (o *Object) Strings(name string) []string {
	raw, _, usable := o.find(name, strictjson.Array)
	if !usable {
		return nil
	}
	var texts []string
	for _, element := range strictjson.Elements(raw) {
		var text string
		if json.Unmarshal(element, &text) == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// Integers returns a list of least to most different whole numbers; it may be left out. Faulty elements are
// left out of what is returned.
func (o *Object) Integers(name string, least, most int, rule *value.Integer) (numbers []int64, given bool) {
	elements, given := o.list(name, least, most)
	for i, raw := range elements {
		if kind := strictjson.KindOf(raw); kind != strictjson.Number {
			o.FaultIn(name, i, "type", "must be a number, not "+string(kind))
			continue
		}
		n, ok := strictjson.Integer(string(raw))
		switch {
		case !ok || !rule.Accepts(n):
			o.FaultIn(name, i, "range", "must be "+rule.Says())
		case slices.Contains(numbers, n):
			o.FaultIn(name, i, "duplicate", "must not be given twice")
		default:
			numbers = append(numbers, n)
		}
	}
	return numbers, given
}

// Objects reads an optional list of least to most objects. Fields that read does not use are
// faults.
func (o *Object) Objects(name string, least, most int, read func(*Object)) (given bool) {
	elements, given := o.list(name, least, most)
	for i, raw := range elements {
		if kind := strictjson.KindOf(raw); kind != strictjson.Object {
			o.FaultIn(name, i, "type", "must be an object, not "+string(kind))
			continue
		}
		o.inner(o.at(name)+"/"+strconv.Itoa(i), raw, read)
	}
	return given
}

// list returns the elements of a list that is not too long.
func (o *Object) list(name string, least, most int) (elements []json.RawMessage, given bool) {
	raw, given, usable := o.find(name, strictjson.Array)
	if !usable {
		return nil, given
	}
	elements = strictjson.Elements(raw)
	if n := len(elements); n < least || n > most {
		o.Fault(name, "length", fmt.Sprintf("must have %d to %d elements, not %d", least, most, n))
	}
	return elements[:min(len(elements), most)], true
}

// Names lists the names of the object's fields, in order and once each. They count as read.
func (o *Object) Names() []string {
	var names []string
	for _, m := range o.members {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	o.asked = append(o.asked, names...)
	return names
}
