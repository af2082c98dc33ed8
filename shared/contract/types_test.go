package contract_test

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// A comparison holds types of the code against schemas. A pair that was seen is not compared again: types
// may hold themselves.
type comparison struct {
	*source
	seen map[string]bool
}

func compare(s *source) comparison { return comparison{s, map[string]bool{}} }

// types compares a type, as encoding/json writes it, with a schema.
func (c comparison) types(where string, t types.Type, schema *openapi3.Schema) []string {
	t = types.Unalias(t)
	pair := fmt.Sprintf("%s %p", t, schema)
	if c.seen[pair] {
		return nil
	}
	c.seen[pair] = true
	wrong := func(kind string) []string {
		return []string{fmt.Sprintf("%s is %v in the contract, %s (%s) in the code", where, schema.Type, kind, t)}
	}
	switch {
	case isNamed(t, problemPackage, "Fault"):
		return nil // is written by a method of its own, which has a test of its own
	case isNamed(t, "time", "Time"):
		if !schema.Type.Is(openapi3.TypeString) || schema.Format != "date-time" {
			return wrong("a time")
		}
		return nil
	case types.IsInterface(t) && schema.Type == nil:
		return nil // anything
	case isNamed(t, "encoding/json", "RawMessage"), types.IsInterface(t):
		if !schema.Type.Is(openapi3.TypeObject) || schema.Properties != nil {
			return wrong("any object")
		}
		return nil
	case writesItself(t):
		return wrong("what a method of its own writes")
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return c.types(where, u.Elem(), schema)
	case *types.Basic:
		kind := basic(u)
		if !schema.Type.Is(kind) {
			return wrong(kind)
		}
		return c.enum(where, t, schema)
	case *types.Slice:
		if !schema.Type.Is(openapi3.TypeArray) || schema.Items == nil {
			return wrong(openapi3.TypeArray)
		}
		return c.types(where+"[]", u.Elem(), schema.Items.Value)
	case *types.Map:
		if !schema.Type.Is(openapi3.TypeObject) || schema.AdditionalProperties.Schema == nil || schema.Properties != nil {
			return wrong("a map")
		}
		return c.types(where+"{}", u.Elem(), schema.AdditionalProperties.Schema.Value)
	case *types.Struct:
		return c.fields(where, fieldsOf(t), schema)
	}
	return wrong("a type that is new to this test")
}

// writesItself tells whether a type says itself how it is written as JSON.
func writesItself(t types.Type) bool {
	for _, name := range []string{"MarshalJSON", "MarshalText"} {
		if method, _, _ := types.LookupFieldOrMethod(t, true, nil, name); method != nil {
			return true
		}
	}
	return false
}

func basic(b *types.Basic) string {
	switch info := b.Info(); {
	case info&types.IsString != 0:
		return openapi3.TypeString
	case info&types.IsBoolean != 0:
		return openapi3.TypeBoolean
	case info&types.IsInteger != 0:
		return openapi3.TypeInteger
	case info&types.IsFloat != 0:
		return openapi3.TypeNumber
	}
	return b.Name()
}

// enum compares the constants of a type of text with the values that the contract lists. What
// is in parentheses is never sent.
func (c comparison) enum(where string, t types.Type, schema *openapi3.Schema) []string {
	named, ok := t.(*types.Named)
	if !ok || c.packages[named.Obj().Pkg().Path()] == nil {
		return nil
	}
	var inCode []string
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), t) && !strings.HasPrefix(c.Val().String(), `"(`) {
			inCode = append(inCode, strings.Trim(c.Val().ExactString(), `"`))
		}
	}
	var inContract []string
	for _, one := range schema.Enum {
		inContract = append(inContract, fmt.Sprint(one))
	}
	slices.Sort(inCode)
	slices.Sort(inContract)
	if !slices.Equal(inCode, inContract) {
		return []string{fmt.Sprintf("%s is one of %v in the contract, of %v in the code", where, inContract, inCode)}
	}
	return nil
}

// A field is what the tag and the type of a struct's field say of its JSON.
type field struct {
	of       types.Type
	optional bool   // left out when it is empty
	wrong    string // what encoding/json would write that no contract should have
}

// fieldsOf are the fields of a struct by their JSON names, those of embedded structs among them.
func fieldsOf(t types.Type) map[string]field {
	u, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	fields, embedded := map[string]field{}, map[string]field{}
	for i := range u.NumFields() {
		f := u.Field(i)
		name, options, _ := strings.Cut(tagOf(u.Tag(i)), ",")
		optional := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		one := field{of: f.Type(), optional: optional}
		_, pointer := types.Unalias(f.Type()).(*types.Pointer)
		switch {
		case f.Embedded() && name == "":
			maps.Copy(embedded, fieldsOf(deref(f.Type())))
			continue
		case name == "-" || !f.Exported():
			continue
		case name == "":
			name, one.wrong = f.Name(), "has no JSON name"
		case strings.Contains(options, "string"):
			one.wrong = "is written as a string"
		case (pointer || types.IsInterface(f.Type())) && !optional:
			one.wrong = "can be null"
		}
		fields[name] = one
	}
	for name, one := range embedded {
		if _, hidden := fields[name]; !hidden {
			fields[name] = one
		}
	}
	return fields
}

func tagOf(tag string) string {
	_, after, found := strings.Cut(tag, `json:"`)
	value, _, _ := strings.Cut(after, `"`)
	if !found {
		return ""
	}
	return value
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func (c comparison) fields(where string, inCode map[string]field, schema *openapi3.Schema) []string {
	if !schema.Type.Is(openapi3.TypeObject) {
		return []string{fmt.Sprintf("%s is %v in the contract, an object in the code", where, schema.Type)}
	}
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(inCode)) {
		in, at := inCode[name], where+"."+name
		property := schema.Properties[name]
		if property == nil {
			differences = append(differences, fmt.Sprintf("the code sends %s, which the contract does not have", at))
			continue
		}
		if in.wrong != "" {
			differences = append(differences, fmt.Sprintf("%s %s", at, in.wrong))
		}
		if required := slices.Contains(schema.Required, name); required == in.optional {
			differences = append(differences, fmt.Sprintf("%s: required is %v in the contract, left out when empty is %v in the code", at, required, in.optional))
		}
		differences = append(differences, c.types(at, in.of, property.Value)...)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if _, there := inCode[name]; !there {
			differences = append(differences, fmt.Sprintf("the contract has %s.%s, which the code does not send", where, name))
		}
	}
	return differences
}
