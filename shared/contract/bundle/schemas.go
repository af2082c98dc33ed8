package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	yaml "github.com/oasdiff/yaml3"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
)

// A member is a field of an object: of a body, by its rule, or of an answer, by its type in Go.
type member struct {
	name     string
	required bool
	field    *input.Field
	goes     reflect.Type
}

// A known schema is that of a shape or of a type in Go.
type known struct {
	name  string
	shape *input.Shape
	goes  reflect.Type
}

// describe completes the schemas of bodies and answers. What a part says of a schema are its words, and what cannot be
// read from Go: fields, types, and which fields are required come from the shapes of bodies and the types of answers.
func describe(document *yaml.Node, parts []*yaml.Node) error {
	schemas := get(get(document, "components"), "schemas")
	var queue []known
	for _, part := range parts {
		for id, words := range entries(get(part, "operations")) {
			if body := table.Get(id.Value).Takes.Body; body != nil {
				queue = append(queue, known{get(words, "body").Value, body, nil})
			}
		}
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range answers {
			if !yield(name) {
				return
			}
		}
	}) {
		queue = append(queue, known{name, nil, reflect.TypeOf(answers[name])})
	}
	var faults []error
	done := map[string]bool{}
	for len(queue) > 0 {
		one := queue[0]
		queue = queue[1:]
		schema := get(schemas, one.name)
		if done[one.name] || schema == nil {
			continue
		}
		done[one.name] = true
		inner, err := complete(document, schema, one)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", one.name, err))
		}
		queue = append(queue, inner...)
	}
	return errors.Join(faults...)
}

// complete adds to the schema of an object what Go knows of it. It returns the schemas that the object refers to.
func complete(document, schema *yaml.Node, one known) (inner []known, err error) {
	members := membersOf(one)
	words, properties, required := get(schema, "properties"), &yaml.Node{Kind: yaml.MappingNode}, sequence()
	for _, m := range members {
		property, more, fault := completed(document, get(words, m.name), m)
		if fault != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", m.name, fault))
		}
		inner = append(inner, more...)
		put(properties, m.name, property)
		if m.required {
			required.Content = append(required.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: m.name})
		}
	}
	_, own := reflect.Zero(cmp.Or(one.goes, reflect.TypeFor[struct{}]())).Interface().(json.Marshaler)
	for name, property := range entries(words) {
		switch {
		case get(properties, name.Value) != nil:
		case own: // a type that writes itself has fields that only the words know
			put(properties, name.Value, property)
		default:
			err = errors.Join(err, fmt.Errorf("it has no field %s", name.Value))
		}
	}
	remove(schema, "properties")
	if get(schema, "type") == nil {
		put(schema, "type", text("object"))
	}
	if one.shape != nil && get(schema, "additionalProperties") == nil {
		put(schema, "additionalProperties", text(strconv.FormatBool(one.shape.Open)))
	}
	if get(schema, "required") == nil && len(required.Content) > 0 {
		put(schema, "required", required)
	}
	if len(properties.Content) > 0 {
		put(schema, "properties", properties)
	}
	return inner, err
}

// completed is a property with what Go knows of it, and the schemas that it refers to. The words may describe an object in
// place, or say nothing.
func completed(document, property *yaml.Node, m member) (_ *yaml.Node, inner []known, err error) {
	if property == nil || property.Kind != yaml.MappingNode {
		property = &yaml.Node{Kind: yaml.MappingNode}
	}
	of := objectOf(m)
	if object := innermost(property); of != nil && get(object, "properties") != nil {
		inner, err = complete(document, object, *of)
	}
	err = errors.Join(err, typed(document, property, m))
	if ref := get(innermost(property), "$ref"); of != nil && ref != nil {
		of.name = ref.Value[strings.LastIndex(ref.Value, "/")+1:]
		inner = append(inner, *of)
	}
	return property, inner, err
}

// membersOf lists the fields of an object in their order. A field of an embedded struct is one of its own.
func membersOf(one known) (all []member) {
	if one.shape != nil {
		for _, field := range one.shape.Fields {
			all = append(all, member{name: field.Name, required: field.Required, field: &field})
		}
		return all
	}
	for i := range one.goes.NumField() {
		field := one.goes.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
		case field.Anonymous && name == "":
			all = append(all, membersOf(known{goes: bare(field.Type)})...)
		default:
			all = append(all, member{name: name, required: !strings.Contains(options, "omit"), goes: field.Type})
		}
	}
	return all
}

// bare is the type of a struct behind a pointer or in a list or a map.
func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// typed adds the type of a property, unless the words say it: that of its rule, the schema that properties of this name
// have, or that of a boolean or a text in Go.
func typed(document, property *yaml.Node, m member) error {
	for _, says := range []string{"$ref", "type", "oneOf", "anyOf", "allOf"} {
		if get(property, says) != nil {
			return nil
		}
	}
	if get(property, "items") != nil {
		put(property, "type", text("array"))
		if m.field != nil {
			bounded(property, m.field.Is)
		}
		return nil
	}
	named := get(get(document, "x-names"), m.name)
	switch {
	case m.field != nil && m.field.Clearable:
		return ruled(property, m.field)
	case named != nil:
		put(property, "$ref", quoted("#/components/schemas/"+named.Value))
	case m.field != nil:
		return ruled(property, m.field)
	case m.goes == reflect.TypeFor[time.Time]() || m.goes == reflect.TypeFor[*time.Time]():
		put(property, "$ref", quoted("#/components/schemas/Time"))
	case bare(m.goes).Kind() == reflect.Bool && m.goes.Kind() != reflect.Slice:
		put(property, "type", text("boolean"))
	case m.goes.Kind() == reflect.String:
		put(property, "type", text("string"))
	case m.goes.Kind() == reflect.Interface: // any value
	case (bare(m.goes).Kind() == reflect.Int || bare(m.goes).Kind() == reflect.Int64) && m.goes.Kind() != reflect.Slice && m.goes.Kind() != reflect.Map:
		put(property, "type", text("integer"))
	case m.goes.Kind() == reflect.Slice && nameOf(m.goes.Elem()) != "":
		put(property, "type", text("array"))
		if get(property, "items") == nil {
			put(property, "items", ref("schemas", nameOf(m.goes.Elem())))
		}
	default:
		return fmt.Errorf("its schema does not follow from %v", m.goes)
	}
	return nil
}

// bounded adds to a list how many elements it may have, and whether they differ, as far as the words do not say it.
func bounded(property *yaml.Node, rule input.Rule) {
	list, ok := rule.(*input.List)
	if !ok || list.Of == nil {
		return
	}
	say := func(key, value string) {
		if get(property, key) == nil {
			put(property, key, text(value))
		}
	}
	if list.Least > 0 {
		say("minItems", strconv.Itoa(list.Least))
	}
	say("maxItems", strconv.Itoa(list.Most))
	if _, objects := list.Of.(*input.Shape); !objects && !list.Repeats {
		say("uniqueItems", "true")
	}
}

// nameOf is the schema of a type of answers.
func nameOf(t reflect.Type) string {
	for name, value := range answers {
		if reflect.TypeOf(value) == t {
			return name
		}
	}
	return ""
}

// ruled adds the rule of a field of a body, as far as the words do not say it.
func ruled(property *yaml.Node, field *input.Field) error {
	say := func(key string, value *yaml.Node) {
		if get(property, key) == nil {
			put(property, key, value)
		}
	}
	number := func(key string, n int) { say(key, text(strconv.Itoa(n))) }
	kind := func(name string) {
		if field.Clearable {
			say("type", sequence(text(name), quoted("null")))
			return
		}
		say("type", text(name))
	}
	switch rule := field.Is.(type) {
	case *input.Text:
		kind("string")
		values := strings.Split(rule.Pattern, "|")
		switch {
		case rule.Trim || rule.Check != nil:
			if get(property, "pattern") == nil {
				return fmt.Errorf("the rule of its text has more than a pattern")
			}
		case len(values) > 1 && !slices.ContainsFunc(values, func(value string) bool { return !plain.MatchString(value) }):
			enum := sequence()
			for _, value := range values {
				enum.Content = append(enum.Content, text(value))
			}
			say("enum", enum)
		case rule.Pattern != "":
			say("pattern", quoted(anchored(rule.Pattern)))
		}
		if rule.Min > 0 {
			number("minLength", rule.Min)
		}
		if rule.Max > 0 {
			number("maxLength", rule.Max)
		}
	case *input.Integer:
		kind("integer")
		if rule.OneOf != nil {
			enum := sequence()
			for _, n := range rule.OneOf {
				enum.Content = append(enum.Content, text(strconv.Itoa(n)))
			}
			say("enum", enum)
			return nil
		}
		number("minimum", int(rule.Least))
		number("maximum", int(rule.Most))
	case input.Boolean:
		kind("boolean")
	default:
		return fmt.Errorf("its schema does not follow from a %T", rule)
	}
	return nil
}

// plain values have no special characters of a pattern.
var plain = regexp.MustCompile(`^[A-Za-z_-]+$`)

// anchored is a pattern that the whole value must match.
func anchored(pattern string) string {
	depth := 0
	for _, c := range pattern {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '|':
			if depth == 0 {
				return "^(" + pattern + ")$"
			}
		}
	}
	return "^" + pattern + "$"
}

func sequence(content ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: content}
}

func quoted(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.SingleQuotedStyle, Value: value}
}

// innermost is the schema of a property, or of its elements if it is a list or a map.
func innermost(property *yaml.Node) *yaml.Node {
	for _, through := range []string{"items", "additionalProperties"} {
		if inner := get(property, through); inner != nil {
			property = inner
		}
	}
	return property
}

// objectOf is the object that a member is, or has elements of; nil if it is none, or its fields are not known.
func objectOf(m member) *known {
	if m.field == nil {
		t := bare(m.goes)
		if t.Kind() != reflect.Struct || t.NumField() == 0 || t.Field(0).Tag.Get("json") == "" && !t.Field(0).Anonymous {
			return nil
		}
		return &known{goes: t}
	}
	shape, _ := m.field.Is.(*input.Shape)
	if list, ok := m.field.Is.(*input.List); ok {
		shape, _ = list.Of.(*input.Shape)
	}
	if shape == nil || shape.Names != nil {
		return nil
	}
	return &known{shape: shape}
}
