package input

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Names returns the texts of an object that has them under any names, at most some of them.
func (o *Object) Names(rule, texts *Text, most int) map[string]string {
	o.shape.Names, o.shape.Values, o.shape.Most = rule, texts, most
	kept := map[string]string{}
	for _, name := range o.named(most) {
		o.check(name, rule)
		kept[name], _ = o.text(Field{Name: name}, texts)
	}
	return kept
}

// NamedObjects reads the objects of an object that has them under any names, at most some of them.
func (o *Object) NamedObjects(rule *Text, most int, read func(name string, each *Object)) {
	o.shape.Names, o.shape.Most = rule, most
	if o.declares {
		o.shape.Values = shapeOf(func(each *Object) { read("", each) })
	}
	for _, name := range o.named(most) {
		o.check(name, rule)
		if raw, _, usable := o.find(Field{Name: name}, ObjectKind); usable {
			o.said[name] = o.inner(o.at(name), raw, func(each *Object) { read(name, each) })
		}
	}
}

// named are the names of an object that has values under any names.
func (o *Object) named(most int) (names []string) {
	for _, m := range o.members {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	if len(names) > most {
		o.Fault("", "length", fmt.Sprintf("must have at most %d names", most))
	}
	return names
}

// check checks one of these names.
func (o *Object) check(name string, rule *Text) {
	if !rule.Accepts(name) {
		o.Fault(name, "format", "must have a name of "+rule.Says)
	}
}

// Texts returns a required list of different texts. A faulty element becomes an empty text.
func (o *Object) Texts(name string, rule *Text, least, most int) []string {
	texts, _ := o.texts(Field{Name: name, Is: &List{Of: rule, Least: least, Most: most}, Required: true})
	return texts
}

// OptionalTexts is Texts for a list that is not required. It reports whether it is given.
func (o *Object) OptionalTexts(name string, rule *Text, least, most int) (texts []string, given bool) {
	return o.texts(Field{Name: name, Is: &List{Of: rule, Least: least, Most: most}})
}

func (o *Object) texts(field Field) (texts []string, given bool) {
	rule, elements, given := o.list(field)
	list := &Object{faults: o.faults, pointer: o.at(field.Name)}
	for i, raw := range elements {
		text := ""
		if kind := KindOf(raw); kind != StringKind {
			o.FaultIn(field.Name, i, "type", "must be a string, not "+string(kind))
		} else if text = list.apply(strconv.Itoa(i), raw, rule.Of.(*Text)); text != "" && slices.Contains(texts, text) {
			o.FaultIn(field.Name, i, "duplicate", "must not be given twice")
		}
		texts = append(texts, text)
	}
	if given && !slices.Contains(texts, "") {
		o.said[field.Name] = texts
	}
	return texts, given
}

// Strings returns the texts of a list of any elements. Null removes it.
func (o *Object) Strings(name string) []string {
	raw, _, usable := o.find(Field{Name: name, Is: &List{}, Clearable: true}, ArrayKind)
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
func (o *Object) Integers(name string, list *List) (numbers []int64, given bool) {
	_, elements, given := o.list(Field{Name: name, Is: list})
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

// Objects reads a required list of objects.
func (o *Object) Objects(name string, least, most int, read func(*Object)) {
	o.objects(Field{Name: name, Is: &List{Least: least, Most: most}, Required: true}, read)
}

// OptionalObjects reads a list of objects, and reports whether it is given.
func (o *Object) OptionalObjects(name string, least, most int, read func(*Object)) (given bool) {
	return o.objects(Field{Name: name, Is: &List{Least: least, Most: most}}, read)
}

func (o *Object) objects(field Field, read func(*Object)) (given bool) {
	if o.declares {
		field.Is.(*List).Of = shapeOf(read)
	}
	_, elements, given := o.list(field)
	var said []map[string]any
	for i, raw := range elements {
		if kind := KindOf(raw); kind != ObjectKind {
			o.FaultIn(field.Name, i, "type", "must be an object, not "+string(kind))
			continue
		}
		said = append(said, o.inner(o.at(field.Name)+"/"+strconv.Itoa(i), raw, read))
	}
	if given && len(said) > 0 {
		o.said[field.Name] = said
	}
	return given
}

// list returns the elements of a list that is not too long.
func (o *Object) list(field Field) (rule *List, elements []json.RawMessage, given bool) {
	rule = field.Is.(*List)
	raw, given, usable := o.find(field, ArrayKind)
	if !usable {
		return rule, nil, given
	}
	elements = Elements(raw)
	if n := len(elements); n < rule.Least || n > rule.Most {
		o.Fault(field.Name, "length", fmt.Sprintf("must have %d to %d elements, not %d", rule.Least, rule.Most, n))
	}
	return rule, elements[:min(len(elements), rule.Most)], true
}
