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
type Faults struct{ list []problem.Fault }

// Add adds a fault.
func (f *Faults) Add(fault problem.Fault) { f.list = append(f.list, fault) }

// List returns the faults.
func (f *Faults) List() []problem.Fault { return f.list }

// Copy returns a copy, to which other faults can be added.
func (f *Faults) Copy() Faults { return Faults{slices.Clone(f.list)} }

// An Object is a JSON object that is being read by its shape. Ask for its fields, then call Unread. Objects inside it
// are read on their own. A declared field that nobody asks for is still checked, after the others.
type Object struct {
	shape   *Shape
	faults  *Faults
	source  []byte
	pointer string
	members []Member
	asked   []string
	anyOf   bool // AnyOf was checked
}

// ObjectOf starts reading an object that CheckJSON accepted. Its faults are added to faults.
func ObjectOf(text []byte, shape *Shape, faults *Faults) *Object {
	return &Object{shape: shape, faults: faults, source: text, members: Members(text)}
}

// Source is the text that ObjectOf was given.
func (o *Object) Source() []byte { return o.source }

// Unread adds to faults the fields that the shape does not have and those that occur twice.
func (o *Object) Unread(faults *Faults) {
	o.rest()
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

// rest checks the fields that nobody asked for.
func (o *Object) rest() {
	for _, field := range o.shape.Fields {
		if slices.Contains(o.asked, field.Name) {
			continue
		}
		switch rule := field.Is.(type) {
		case *Text:
			o.OptionalText(field.Name)
		case *Integer:
			o.OptionalInteger(field.Name)
		case Number:
			o.OptionalNumber(field.Name)
		case Boolean:
			o.OptionalBoolean(field.Name)
		case *Shape:
			o.Object(field.Name, func(*Object) {})
		case *List:
			switch rule.Of.(type) {
			case *Text:
				o.Texts(field.Name)
			case *Integer:
				o.Integers(field.Name)
			case *Shape:
				o.Objects(field.Name, func(*Object) {})
			default:
				o.Strings(field.Name)
			}
		}
	}
	if len(o.shape.AnyOf) > 0 && !o.anyOf {
		o.RequireAny()
	}
	if o.shape.Names != nil {
		o.names()
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

// find returns a field, only if it has the given kind. A field that occurs twice is found once. A required field that is
// missing is a fault.
func (o *Object) find(field Field, kind Type) (raw json.RawMessage, given, usable bool) {
	o.asked = append(o.asked, field.Name)
	for _, m := range o.members {
		if m.Name != field.Name {
			continue
		}
		if got := KindOf(m.Value); got != kind {
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
func (o *Object) Missing(name string) { o.Fault(name, "required", "is required") }

// RequireAny adds a fault if none of the shape's AnyOf is given.
func (o *Object) RequireAny() {
	o.anyOf = true
	for _, m := range o.members {
		if slices.Contains(o.shape.AnyOf, m.Name) {
			return
		}
	}
	o.Fault("", "required", "must have at least one of "+strings.Join(o.shape.AnyOf, ", "))
}

// Text returns a text, which is empty if it is missing.
func (o *Object) Text(name string) string {
	text, _ := o.OptionalText(name)
	return text
}

// OptionalText returns a text, and reports whether it is given.
func (o *Object) OptionalText(name string) (text string, given bool) {
	rule, _ := ruleOf[*Text](o.shape.Fields, name)
	return o.TextBy(name, rule)
}

// TextBy is OptionalText with another rule than the declared one: a narrower one from a setting, or a wider one if the
// caller of TextBy describes faults better.
func (o *Object) TextBy(name string, rule *Text) (text string, given bool) {
	_, field := ruleOf[*Text](o.shape.Fields, name)
	if field.Clearable && o.isNull(name) {
		o.asked = append(o.asked, name)
		return "", true
	}
	raw, given, usable := o.find(field, StringKind)
	if !usable {
		return "", given
	}
	return o.text(name, raw, rule), true
}

// Null reports whether null removes a field.
func (o *Object) Null(name string) bool {
	field, declared := o.shape.Fields.Find(name)
	if !declared || !field.Clearable {
		panic("input: " + name + " is not declared as clearable")
	}
	if !o.isNull(name) {
		return false
	}
	o.asked = append(o.asked, name)
	return true
}

func (o *Object) isNull(name string) bool {
	return slices.ContainsFunc(o.members, func(m Member) bool { return m.Name == name && KindOf(m.Value) == NullKind })
}

// ClearableText returns a text that null removes: nil if it is missing, and an empty text for null.
func (o *Object) ClearableText(name string) *string {
	text, given := o.OptionalText(name)
	if !given {
		return nil
	}
	return &text
}

func (o *Object) text(name string, raw json.RawMessage, rule *Text) string {
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

// OptionalInteger returns a whole number in any spelling: 10, 10.0 and 1e1 are the same.
func (o *Object) OptionalInteger(name string) (n int64, given bool) {
	rule, field := ruleOf[*Integer](o.shape.Fields, name)
	raw, given, usable := o.find(field, NumberKind)
	if !usable {
		return 0, given
	}
	n, ok := ParseInteger(string(raw))
	if !ok || !rule.Accepts(n) {
		o.Fault(name, "range", "must be "+rule.Says())
	}
	return n, true
}

// Integer is OptionalInteger for a number that is required, or 0 if it is missing.
func (o *Object) Integer(name string) int64 {
	n, _ := o.OptionalInteger(name)
	return n
}

// These bound the numbers of OptionalNumber, on both sides of zero.
const (
	Largest  = 1e15
	Smallest = 1e-15
	// Digits is how many significant digits a number may have; float64 keeps that many.
	Digits = 15
)

// OptionalNumber returns a number. ok reports whether it is given and valid.
func (o *Object) OptionalNumber(name string) (n float64, given, ok bool) {
	_, field := ruleOf[Number](o.shape.Fields, name)
	raw, given, usable := o.find(field, NumberKind)
	if !usable {
		return 0, given, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	digits := Significant(string(raw))
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

// Boolean returns a boolean; the default is false.
func (o *Object) Boolean(name string) bool {
	b, _ := o.OptionalBoolean(name)
	return b
}

// OptionalBoolean returns a boolean, and reports whether it is given.
func (o *Object) OptionalBoolean(name string) (b, given bool) {
	_, field := ruleOf[Boolean](o.shape.Fields, name)
	raw, given, usable := o.find(field, BooleanKind)
	return usable && raw[0] == 't', given
}

// Object reads an object, and reports whether it is given.
func (o *Object) Object(name string, read func(*Object)) (given bool) {
	shape, field := ruleOf[*Shape](o.shape.Fields, name)
	raw, given, usable := o.find(field, ObjectKind)
	if usable {
		o.inner(o.at(name), shape, raw, read)
	}
	return given
}

func (o *Object) inner(pointer string, shape *Shape, raw json.RawMessage, read func(*Object)) {
	inside := &Object{shape: shape, faults: o.faults, pointer: pointer, members: Members(raw)}
	read(inside)
	inside.Unread(o.faults)
}

// names checks an object that has texts under any names.
func (o *Object) names() {
	var names []string
	for _, m := range o.members {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	if len(names) > o.shape.Most {
		o.Fault("", "length", fmt.Sprintf("must have at most %d names", o.shape.Most))
	}
	for _, name := range names {
		if !o.shape.Names.Accepts(name) {
			o.Fault(name, "format", "must have a name of "+o.shape.Names.Says)
		}
		if raw, _, usable := o.find(Field{Name: name}, StringKind); usable {
			o.text(name, raw, o.shape.Texts)
		}
	}
}

// Texts returns a list of different texts, and reports whether it is given. A faulty element becomes an empty text.
func (o *Object) Texts(name string) (texts []string, given bool) {
	rule, elements, given := o.list(name)
	list := &Object{faults: o.faults, pointer: o.at(name)}
	for i, raw := range elements {
		text := ""
		if kind := KindOf(raw); kind != StringKind {
			o.FaultIn(name, i, "type", "must be a string, not "+string(kind))
		} else if text = list.text(strconv.Itoa(i), raw, rule.Of.(*Text)); text != "" && slices.Contains(texts, text) {
			o.FaultIn(name, i, "duplicate", "must not be given twice")
		}
		texts = append(texts, text)
	}
	return texts, given
}

// Strings returns the texts of a list of any elements.
func (o *Object) Strings(name string) []string {
	_, field := ruleOf[*List](o.shape.Fields, name)
	raw, _, usable := o.find(field, ArrayKind)
	if !usable {
		return nil
	}
	var texts []string
	for _, element := range Elements(raw) {
		var text string
		if json.Unmarshal(element, &text) == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// Integers returns a list of whole numbers, and reports whether it is given. Faulty elements are omitted.
func (o *Object) Integers(name string) (numbers []int64, given bool) {
	list, elements, given := o.list(name)
	for i, raw := range elements {
		if kind := KindOf(raw); kind != NumberKind {
			o.FaultIn(name, i, "type", "must be a number, not "+string(kind))
			continue
		}
		rule := list.Of.(*Integer)
		n, ok := ParseInteger(string(raw))
		switch {
		case !ok || !rule.Accepts(n):
			o.FaultIn(name, i, "range", "must be "+rule.Says())
		case !list.Repeats && slices.Contains(numbers, n):
			o.FaultIn(name, i, "duplicate", "must not be given twice")
		default:
			numbers = append(numbers, n)
		}
	}
	return numbers, given
}

// Objects reads a list of objects, and reports whether it is given.
func (o *Object) Objects(name string, read func(*Object)) (given bool) {
	list, elements, given := o.list(name)
	for i, raw := range elements {
		if kind := KindOf(raw); kind != ObjectKind {
			o.FaultIn(name, i, "type", "must be an object, not "+string(kind))
			continue
		}
		o.inner(o.at(name)+"/"+strconv.Itoa(i), list.Of.(*Shape), raw, read)
	}
	return given
}

// list returns the elements of a list that is not too long.
func (o *Object) list(name string) (rule *List, elements []json.RawMessage, given bool) {
	rule, field := ruleOf[*List](o.shape.Fields, name)
	raw, given, usable := o.find(field, ArrayKind)
	if !usable {
		return rule, nil, given
	}
	elements = Elements(raw)
	if n := len(elements); n < rule.Least || n > rule.Most {
		o.Fault(name, "length", fmt.Sprintf("must have %d to %d elements, not %d", rule.Least, rule.Most, n))
	}
	return rule, elements[:min(len(elements), rule.Most)], true
}
