package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
)

// TestOperations_DeclareWhatTheContractSays compares the rules of what each operation takes with the words of the
// contract: the schemas that parts write by hand. Everything else of an operation is generated from its row. What it
// answers is compared with the contract by the end-to-end tests.
func TestOperations_DeclareWhatTheContractSays(t *testing.T) {
	all := inContract(t)
	for _, row := range table.All {
		for id := range methodsOf(row) {
			if op := all[id]; op != nil {
				for _, difference := range differences(document(t).Paths.Value(pathOf(row)), op, row) {
					t.Errorf("%s: %s", id, difference)
				}
			}
		}
	}
}

func differences(item *openapi3.PathItem, op *openapi3.Operation, row operations.Operation) (all []string) {
	if row.Takes.Anything {
		if op.Extensions["x-any-query"] == nil || op.Responses.Default() == nil || op.Responses.Default().Value.Extensions["x-any-answer"] == nil {
			return []string{"the row takes and answers anything, the contract does not"}
		}
		return nil
	}
	parameters := slices.Concat(item.Parameters, op.Parameters)
	for place, fields := range map[string]input.Fields{"path": row.Takes.Path, "query": row.Takes.Query} {
		for _, field := range fields {
			all = append(all, ruleDifferences(place+" "+field.Name, parameters.GetByInAndName(place, field.Name).Schema.Value, field)...)
		}
	}
	if row.Takes.Body != nil {
		all = append(all, shapeDifferences("body", op.RequestBody.Value.Content["application/json"].Schema.Value, row.Takes.Body)...)
	}
	return all
}

// types are those of a field's schema.
func types(of string, field input.Field) []string {
	if field.Clearable {
		return []string{of, openapi3.TypeNull}
	}
	return []string{of}
}

// ruleDifferences compares the schema of a value with its rule.
func ruleDifferences(key string, s *openapi3.Schema, field input.Field) (all []string) {
	add := func(format string, args ...any) { all = append(all, key+" "+fmt.Sprintf(format, args...)) }
	switch rule := field.Is.(type) {
	case *input.Integer:
		if difference := integerDifference(s, rule, field.Default); difference != "" {
			add("%s", difference)
		}
	case *input.Text:
		if want := types(openapi3.TypeString, field); !slices.Equal(s.Type.Slice(), want) {
			add("has the type %v in the contract, not %v", s.Type, want)
		}
		for _, difference := range textDifferences(s, rule) {
			add("%s", difference)
		}
	case input.Number:
		if !s.Type.Is(openapi3.TypeNumber) {
			add("is not a number in the contract")
		}
	case input.Boolean:
		if !s.Type.Is(openapi3.TypeBoolean) {
			add("is not a boolean in the contract")
		}
	case *input.Shape:
		if field.Clearable {
			if len(s.OneOf) != 2 || !s.OneOf[1].Value.Type.Is(openapi3.TypeNull) {
				add("cannot be null in the contract")
				return all
			}
			s = s.OneOf[0].Value
		}
		return shapeDifferences(key, s, rule)
	case *input.List:
		if want := types(openapi3.TypeArray, field); !slices.Equal(s.Type.Slice(), want) {
			add("is not a list in the contract")
			return all
		}
		if rule.Of == nil {
			return all
		}
		if int(s.MinItems) != rule.Least || s.MaxItems == nil || int(*s.MaxItems) != rule.Most {
			add("is not a list of %d to %d elements in the contract", rule.Least, rule.Most)
		}
		if _, objects := rule.Of.(*input.Shape); s.UniqueItems == objects {
			add("may hold an element twice: %v in the contract", !s.UniqueItems)
		}
		return append(all, ruleDifferences(key+"[]", s.Items.Value, input.Field{Is: rule.Of})...)
	}
	return all
}

func integerDifference(s *openapi3.Schema, rule *input.Integer, fallback int) string {
	var want openapi3.Schema
	if rule.OneOf == nil {
		want.Min, want.Max = new(float64(rule.Least)), new(float64(rule.Most))
	}
	for _, n := range rule.OneOf {
		want.Enum = append(want.Enum, float64(n))
	}
	got, _ := s.Default.(float64)
	if !s.Type.Is(openapi3.TypeInteger) || !same(s.Min, want.Min) || !same(s.Max, want.Max) || !slices.Equal(s.Enum, want.Enum) || got != float64(fallback) {
		return fmt.Sprintf("is not %s, or %d if it is omitted", rule.Says(), fallback)
	}
	return ""
}

func shapeDifferences(key string, s *openapi3.Schema, shape *input.Shape) (all []string) {
	add := func(format string, args ...any) { all = append(all, key+" "+fmt.Sprintf(format, args...)) }
	if !s.Type.Is(openapi3.TypeObject) {
		add("is not an object in the contract")
		return all
	}
	if shape.Names != nil {
		further := s.AdditionalProperties
		if further.Schema == nil || s.MaxProps == nil || int(*s.MaxProps) != shape.Most {
			add("is not an object of at most %d values in the contract", shape.Most)
			return all
		}
		return append(all, ruleDifferences(key+"{}", further.Schema.Value, input.Field{Is: shape.Values})...)
	}
	for _, field := range shape.Fields {
		all = append(all, ruleDifferences(key+"."+field.Name, s.Properties[field.Name].Value, field)...)
	}
	if key != "body" && shape.AnyOf == nil {
		return all // other relations between the fields of an inner object are only described
	}
	var anyOf []string
	if s.Not != nil { // one of these names is required
		for _, name := range s.Not.Value.PropertyNames.Value.Not.Value.Enum {
			anyOf = append(anyOf, fmt.Sprint(name))
		}
	}
	if s.MinProps == 1 {
		anyOf = slices.Collect(maps.Keys(s.Properties))
	}
	slices.Sort(anyOf)
	if want := slices.Sorted(slices.Values(shape.AnyOf)); !slices.Equal(anyOf, want) {
		add("needs one of %v in the contract, of %v in the row", anyOf, want)
	}
	return all
}
