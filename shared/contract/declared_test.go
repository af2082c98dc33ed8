package contract_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// TestOperations_DeclareWhatTheContractSays compares each row of the table of operations with the contract, in both
// directions: parameters, headers, the fields of the body with their rules, the statuses of successes, and the codes of
// problems. What an operation answers is compared with its row by the end-to-end tests.
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

func differences(item *openapi3.PathItem, op *openapi3.Operation, row operations.Operation) []string {
	if row.Takes.Anything {
		if op.Extensions["x-any-query"] == nil || op.Responses.Default() == nil || op.Responses.Default().Value.Extensions["x-any-answer"] == nil {
			return []string{"the row takes and answers anything, the contract does not"}
		}
		return nil
	}
	return slices.Concat(inputDifferences(item, op, row.Takes), answerDifferences(op, row))
}

func answerDifferences(op *openapi3.Operation, row operations.Operation) (all []string) {
	var statuses []int
	var codes []problem.Code
	for status, r := range op.Responses.Map() {
		n, err := strconv.Atoi(status)
		if err != nil {
			all = append(all, fmt.Sprintf("the contract has the answer %s", status))
		} else if n < 400 {
			statuses = append(statuses, n)
		}
		for _, code := range codesOf(r.Value) {
			codes = append(codes, problem.Code(code))
		}
	}
	slices.Sort(statuses)
	slices.Sort(codes)
	if !slices.Equal(statuses, row.Gives) {
		all = append(all, fmt.Sprintf("the contract has the successes %v, the row %v", statuses, row.Gives))
	}
	if !slices.Equal(codes, row.Problems()) {
		all = append(all, fmt.Sprintf("the contract has the problems %v, the row %v", codes, row.Problems()))
	}
	return all
}

// A documented input is a parameter or a field of a body.
type documented struct {
	*openapi3.Schema
	required bool
}

func inputDifferences(item *openapi3.PathItem, op *openapi3.Operation, takes input.Takes) []string {
	inContract := map[string]documented{}
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		inContract[p.Value.In+" "+p.Value.Name] = documented{p.Value.Schema.Value, p.Value.Required}
	}
	if answerOf(op, http.StatusNotModified) != nil {
		delete(inContract, "header If-None-Match") // of every read; package lambdahttp does it
	}
	var all []string
	compare := func(key string, field input.Field) {
		of, there := inContract[key]
		delete(inContract, key)
		if !there {
			all = append(all, "the contract does not have "+key)
			return
		}
		if of.required != field.Required {
			all = append(all, fmt.Sprintf("%s is required: %v in the contract, %v in the row", key, of.required, field.Required))
		}
		if field.Is != nil {
			all = append(all, ruleDifferences(key, of.Schema, field)...)
		}
	}
	for _, field := range takes.Path {
		field.Required = true
		compare("path "+field.Name, field)
	}
	for _, field := range takes.Query {
		compare("query "+field.Name, field)
	}
	for name, taken := range map[string]bool{"If-Match": takes.Conditions, "If-None-Match": takes.Conditions, "Idempotency-Key": takes.IdempotencyKey} {
		if taken {
			compare("header "+name, input.Field{}) // what headers may hold is compared by headers_test.go
		}
	}
	for key := range inContract {
		all = append(all, "the row does not have "+key)
	}
	switch {
	case (op.RequestBody != nil) != (takes.Body != nil):
		all = append(all, fmt.Sprintf("it has a body: %v in the contract, %v in the row", op.RequestBody != nil, takes.Body != nil))
	case takes.Body != nil && !op.RequestBody.Value.Required:
		all = append(all, "the body is not required in the contract")
	case takes.Body != nil:
		all = append(all, shapeDifferences("body", op.RequestBody.Value.Content["application/json"].Schema.Value, takes.Body)...)
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
	further := s.AdditionalProperties
	if shape.Names != nil {
		if further.Schema == nil || s.MaxProps == nil || int(*s.MaxProps) != shape.Most {
			add("is not an object of at most %d texts in the contract", shape.Most)
			return all
		}
		return append(all, ruleDifferences(key+"{}", further.Schema.Value, input.Field{Is: shape.Texts})...)
	}
	if further.Has == nil || *further.Has != shape.Open {
		add("takes further fields: %v in the row, but not in the contract", shape.Open)
	}
	known := map[string]bool{}
	for _, field := range shape.Fields {
		known[field.Name] = true
		at := key + "." + field.Name
		property := s.Properties[field.Name]
		if property == nil {
			all = append(all, "the contract does not have "+at)
			continue
		}
		if required := slices.Contains(s.Required, field.Name); required != field.Required {
			all = append(all, fmt.Sprintf("%s is required: %v in the contract, %v in the row", at, required, field.Required))
		}
		all = append(all, ruleDifferences(at, property.Value, field)...)
	}
	for name := range s.Properties {
		if !known[name] {
			all = append(all, "the row does not have "+key+"."+name)
		}
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
