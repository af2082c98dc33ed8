package input

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/platform/problem"
)

// Faults collects the faults of one document, in the order in which they are found. Their number
// is limited by the size of the body, and problem.Document limits how many are shown. The zero
// value is ready to use.
type Faults struct {
	list  []problem.Fault
	hears bool // see Reader.Hears
	heard []Heard
}

// Add adds a fault.
func (f *Faults) Add(fault problem.Fault) { f.list = append(f.list, fault) }

// List returns the faults.
func (f *Faults) List() []problem.Fault { return f.list }

// An Object is a JSON object that is being read. Ask for its fields, then call Unread. What was asked for is the
// object's shape. Objects inside it are read on their own.
type Object struct {
	shape    Shape // so far
	declares bool  // there is no object: it is read for its shape
	faults   *Faults
	source   []byte
	pointer  string
	members  []Member
	said     map[string]any // the fields that were asked for and are given; see Reader.Said
}

// ObjectOf starts reading an object that CheckJSON accepted. Its faults are added to faults.
func ObjectOf(text []byte, faults *Faults) *Object {
	return &Object{faults: faults, source: text, members: Members(text), said: map[string]any{}}
}

// Parse reads a text that must be one JSON object, and returns all its faults.
func Parse[T any](text []byte, read func(*Object) T) (value T, faults []problem.Fault) {
	if err := CheckJSON(text); err != nil {
		return value, []problem.Fault{{Code: "format", Detail: "The text " + err.Error() + "."}}
	}
	if kind := KindOf(text); kind != ObjectKind {
		return value, []problem.Fault{{Code: "type", Detail: "must be an object, not " + string(kind)}}
	}
	var all Faults
	o := ObjectOf(text, &all)
	value = read(o)
	o.Unread(&all)
	return value, all.List()
}

// Source is the text that ObjectOf was given.
func (o *Object) Source() []byte { return o.source }

// Unread adds to faults the fields that nobody asked for and those that occur twice. What a box says has none.
func (o *Object) Unread(faults *Faults) {
	if o.faults.hears {
		return
	}
	seen := map[string]bool{}
	for _, m := range o.members {
		_, declared := o.shape.Fields.Find(m.Name)
		switch {
		case seen[m.Name]:
			faults.Add(problem.Fault{Pointer: o.at(m.Name), Code: "duplicate", Detail: "must be given once"})
		case !declared && !o.shape.Open && o.shape.Names == nil:
			faults.Add(problem.Fault{Pointer: o.at(m.Name), Code: "unknown", Detail: "is not a field of this operation"})
		}
		seen[m.Name] = true
	}
}

// Open takes further fields, too.
func (o *Object) Open() { o.shape.Open = true }

// Others returns the texts, numbers and booleans of the fields that nobody has asked for yet, as texts, and the names of the
// other fields that have a value. They have no faults. Of a field that is given twice, the first counts.
func (o *Object) Others() (texts map[string]string, unusable []string) {
	texts = map[string]string{}
	for _, m := range o.members {
		text, ok := textOf(m.Value)
		_, declared := o.shape.Fields.Find(m.Name)
		_, twice := texts[m.Name]
		switch {
		case declared || twice || KindOf(m.Value) == NullKind:
		case ok:
			texts[m.Name] = text
		default:
			unusable = append(unusable, m.Name)
		}
	}
	return texts, unusable
}

// Hears reports whether the object is what a box says; see Reader.Hears.
func (o *Object) Hears() bool { return o.faults.hears }

// Note notes a field of what a box says that was read otherwise than it was said.
func (o *Object) Note(name, said, read string) { o.faults.note(o.at(name), said, read) }

// Fault adds a fault of a field. An empty name means the object itself. What a box says in the field is noted as not used.
func (o *Object) Fault(name, code, detail string) {
	if o.faults.hears {
		o.unusable(name)
		return
	}
	o.faults.Add(problem.Fault{Pointer: o.at(name), Code: code, Detail: detail})
}

// FaultIn adds a fault of an element of a list.
func (o *Object) FaultIn(list string, i int, code, detail string) {
	o.faults.Add(problem.Fault{Pointer: o.at(list) + "/" + strconv.Itoa(i), Code: code, Detail: detail})
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer is where a field is in the document.
func (o *Object) Pointer(name string) string { return o.at(name) }

func (o *Object) at(name string) string {
	if name == "" {
		return o.pointer
	}
	return o.pointer + "/" + escaper.Replace(name)
}

// find returns a field, only if it has the given kind. A field that occurs twice is found once. A required field that is
// missing is a fault.
func (o *Object) find(field Field, kind Type) (raw json.RawMessage, given, usable bool) {
	o.shape.Fields = append(o.shape.Fields, field)
	if field.Clearable && o.isNull(field.Name) {
		o.said[field.Name] = nil
		return nil, true, false
	}
	for _, m := range o.members {
		if m.Name != field.Name {
			continue
		}
		o.said[field.Name] = m.Value
		got := KindOf(m.Value)
		if o.faults.hears && got != kind {
			if raw, usable = as(kind, m.Value); !usable && got != NullKind {
				o.unusable(field.Name)
			}
			return raw, usable, usable
		}
		if got != kind {
			o.Fault(field.Name, "type", "must be "+string(kind)+", not "+string(got))
			return nil, true, false
		}
		return m.Value, true, true
	}
	if field.Required {
		o.Missing(field.Name)
	}
	return nil, false, false
}

// Missing adds the fault that a field is missing, if other fields require it.
func (o *Object) Missing(name string) {
	if !o.faults.hears {
		o.Fault(name, "required", "is required")
	}
}

// RequireAny adds a fault if none of some fields is given.
func (o *Object) RequireAny(names ...string) {
	o.shape.AnyOf = names
	for _, m := range o.members {
		if slices.Contains(names, m.Name) {
			return
		}
	}
	o.Fault("", "required", "must have at least one of "+strings.Join(names, ", "))
}

// Text returns a required text, which is empty if it is missing.
func (o *Object) Text(name string, rule *Text) string {
	text, _ := o.text(Field{Name: name, Is: rule, Required: true}, rule)
	return text
}

// OptionalText returns a text, and reports whether it is given.
func (o *Object) OptionalText(name string, rule *Text) (text string, given bool) {
	return o.text(Field{Name: name, Is: rule}, rule)
}

// TextBy is Text with another rule than the declared one: a narrower one from a setting, or a wider one if the caller of
// TextBy describes faults better.
func (o *Object) TextBy(name string, declared, rule *Text) string {
	text, _ := o.text(Field{Name: name, Is: declared, Required: true}, rule)
	return text
}

// OptionalTextBy is TextBy for a text that is not required. It reports whether it is given.
func (o *Object) OptionalTextBy(name string, declared, rule *Text) (text string, given bool) {
	return o.text(Field{Name: name, Is: declared}, rule)
}

// ClearableText returns a text that null removes: nil if it is missing, and an empty text for null.
func (o *Object) ClearableText(name string, rule *Text) *string {
	text, given := o.text(Field{Name: name, Is: rule, Clearable: true}, rule)
	if !given {
		return nil
	}
	return &text
}

func (o *Object) text(field Field, rule *Text) (text string, given bool) {
	raw, given, usable := o.find(field, StringKind)
	if !usable {
		return "", given
	}
	if text = o.apply(field.Name, raw, rule); text != "" {
		o.said[field.Name] = text
	}
	return text, text != "" || !o.faults.hears
}

func (o *Object) apply(name string, raw json.RawMessage, rule *Text) string {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		o.Fault(name, "type", "must be a string")
		return ""
	}
	if o.faults.hears {
		return o.faults.fit(o.at(name), text, rule)
	}
	kept, code, detail := rule.Apply(text)
	if code != "" {
		o.Fault(name, code, detail)
	}
	return kept
}

// Integer returns a required whole number in any spelling, or 0 if it is missing: 10, 10.0 and 1e1 are the same.
func (o *Object) Integer(name string, rule *Integer) int64 {
	n, _ := o.integer(Field{Name: name, Is: rule, Required: true})
	return n
}

// OptionalInteger is Integer for a number that is not required. It reports whether it is given.
func (o *Object) OptionalInteger(name string, rule *Integer) (n int64, given bool) {
	return o.integer(Field{Name: name, Is: rule})
}

func (o *Object) integer(field Field) (n int64, given bool) {
	rule := field.Is.(*Integer)
	raw, given, usable := o.find(field, NumberKind)
	if !usable {
		return 0, given
	}
	n, ok := ParseInteger(string(raw))
	if !ok || !rule.Accepts(n) {
		o.Fault(field.Name, "range", "must be "+rule.Says())
		if o.faults.hears {
			return 0, false
		}
	}
	return n, true
}

// These bound the numbers of Number, on both sides of zero.
const (
	Largest  = 1e15
	Smallest = 1e-15
	// Digits is how many significant digits a number may have; float64 keeps that many.
	Digits = 15
)

// Number returns a required number. ok reports whether it is valid.
func (o *Object) Number(name string) (n float64, ok bool) {
	n, _, ok = o.number(Field{Name: name, Is: Number{}, Required: true})
	return n, ok
}

// OptionalNumber returns a number. ok reports whether it is given and valid.
func (o *Object) OptionalNumber(name string) (n float64, given, ok bool) {
	return o.number(Field{Name: name, Is: Number{}})
}

func (o *Object) number(field Field) (n float64, given, ok bool) {
	raw, given, usable := o.find(field, NumberKind)
	if !usable {
		return 0, given, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	digits := significant(string(raw))
	size := max(n, -n)
	if err != nil || size > Largest || digits > 0 && size < Smallest {
		o.Fault(field.Name, "range", "must be 0, or from 1e-15 to 1e15 or from -1e15 to -1e-15")
		return 0, true, false
	}
	if digits > Digits {
		o.Fault(field.Name, "format", fmt.Sprintf("must have at most %d significant digits, not %d", Digits, digits))
		return 0, true, false
	}
	return n, true, true
}

// Boolean returns a boolean; the default is false.
func (o *Object) Boolean(name string) bool {
	b, _ := o.OptionalBoolean(name)
	return b
}

// OptionalBoolean returns a boolean, and reports whether it is given.
func (o *Object) OptionalBoolean(name string) (b, given bool) {
	raw, given, usable := o.find(Field{Name: name, Is: Boolean{}}, BooleanKind)
	return usable && raw[0] == 't', given
}

// Object reads a required object.
func (o *Object) Object(name string, read func(*Object)) {
	o.object(Field{Name: name, Required: true}, read)
}

// OptionalObject reads an object, and reports whether it is given.
func (o *Object) OptionalObject(name string, read func(*Object)) (given bool) {
	return o.object(Field{Name: name}, read)
}

// ClearableObject reads an object that null removes. It reports whether the object or null is given, and whether null is.
func (o *Object) ClearableObject(name string, read func(*Object)) (given, null bool) {
	return o.object(Field{Name: name, Clearable: true}, read), o.isNull(name)
}

func (o *Object) object(field Field, read func(*Object)) (given bool) {
	if o.declares {
		field.Is = shapeOf(read)
	}
	raw, given, usable := o.find(field, ObjectKind)
	if usable {
		o.said[field.Name] = o.inner(o.at(field.Name), raw, read)
	}
	return given
}

// shapeOf returns the shape of an object that is read with read.
func shapeOf(read func(*Object)) *Shape {
	o := &Object{declares: true, faults: &Faults{}}
	read(o)
	return &o.shape
}

// inner reads an object inside this one, and returns what it says.
func (o *Object) inner(pointer string, raw json.RawMessage, read func(*Object)) map[string]any {
	inside := &Object{faults: o.faults, pointer: pointer, members: Members(raw), said: map[string]any{}}
	read(inside)
	inside.Unread(o.faults)
	return inside.said
}

func (o *Object) isNull(name string) bool {
	return slices.ContainsFunc(o.members, func(m Member) bool { return m.Name == name && KindOf(m.Value) == NullKind })
}
