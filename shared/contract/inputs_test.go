package contract_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/platform/input"
)

// TestInputs_OfContractAndCode_AreTheSame compares every value that an operation reads from path, query,
// headers and body: the same names, required on both sides or on none, and under the same rule.
func TestInputs_OfContractAndCode_AreTheSame(t *testing.T) {
	count := 0
	for id, both := range bothSides(t) {
		for _, difference := range inputDifferences(both.item, both.contract, both.code) {
			t.Errorf("%s: %s", id, difference)
		}
		count += len(both.code.inputs)
	}
	t.Logf("%d values", count)
}

// A documented input is a parameter or a field of a body.
type documented struct {
	*openapi3.Schema
	required bool
}

// inputDifferences compares what an operation reads with what the contract says of it.
func inputDifferences(item *openapi3.PathItem, op *openapi3.Operation, code operation) []string {
	if op.Extensions["x-any-query"] != nil {
		return nil // what is forwarded is not read
	}
	inContract, differences := documentedInputs(item, op, code.open)
	if code.content {
		maps.DeleteFunc(inContract, func(key string, _ documented) bool { return strings.HasPrefix(key, "body ") })
	}
	if code.policy != nil {
		maps.DeleteFunc(inContract, func(key string, _ documented) bool { return strings.HasPrefix(key, "body "+*code.policy) })
	}
	if (op.RequestBody != nil) != code.body {
		differences = append(differences, fmt.Sprintf("it has a body: %v in the contract, %v in the code", op.RequestBody != nil, code.body))
	}
	inCode := map[string]bool{}
	for _, in := range code.inputs {
		key := in.in + " " + in.name
		inCode[key] = true
		schema, there := inContract[key]
		switch {
		case !there:
			differences = append(differences, fmt.Sprintf("the code reads %s, which the contract does not have", key))
			continue
		case schema.required != in.required:
			differences = append(differences, fmt.Sprintf("%s is required: %v in the contract, %v in the code", key, schema.required, in.required))
		}
		for _, difference := range ruleDifferences(schema.Schema, in, slices.Contains(code.open, in.name)) {
			differences = append(differences, key+" "+difference)
		}
	}
	for key := range inContract {
		if !inCode[key] {
			differences = append(differences, fmt.Sprintf("the contract has %s, which the code does not read", key))
		}
	}
	return append(differences, choiceDifferences(op, code.choices)...)
}

func documentedInputs(item *openapi3.PathItem, op *openapi3.Operation, open []string) (map[string]documented, []string) {
	inputs := map[string]documented{}
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		inputs[p.Value.In+" "+p.Value.Name] = documented{p.Value.Schema.Value, p.Value.Required}
	}
	if answerOf(op, http.StatusNotModified) != nil {
		delete(inputs, "header If-None-Match") // of every read; package lambdahttp does it
	}
	body := bodyOf(op)
	if body == nil {
		return inputs, nil
	}
	documentFields(inputs, "body ", body)
	if !op.RequestBody.Value.Required || !takes(body, slices.Contains(open, "")) {
		return inputs, []string{"the body must be required, and take no field that is not named, unless the code takes any"}
	}
	return inputs, nil
}

// takes tells whether an object takes further fields, or does not, as it says.
func takes(object *openapi3.Schema, further bool) bool {
	has := object.AdditionalProperties.Has
	return has != nil && *has == further
}

// documentFields adds the fields of an object, and those of the objects and lists of objects in it.
func documentFields(inputs map[string]documented, prefix string, object *openapi3.Schema) {
	for name, field := range object.Properties {
		inputs[prefix+name] = documented{field.Value, slices.Contains(object.Required, name)}
		documentFields(inputs, prefix+name+".", field.Value)
		if field.Value.Items != nil {
			documentFields(inputs, prefix+name+"[].", field.Value.Items.Value)
		}
	}
}

func bodyOf(op *openapi3.Operation) *openapi3.Schema {
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"].Schema.Value
}

// choiceDifferences compares the fields of a body of which one at least is given.
func choiceDifferences(op *openapi3.Operation, inCode [][]string) []string {
	var inContract [][]string
	if body := bodyOf(op); body != nil {
		var names []string
		for _, one := range body.AnyOf {
			names = append(names, one.Value.Required...)
		}
		if body.MinProps == 1 {
			for name := range body.Properties {
				names = append(names, name)
			}
		}
		if names != nil {
			inContract = [][]string{names}
		}
	}
	if got, want := sorted(inContract), sorted(inCode); got != want {
		return []string{fmt.Sprintf("one at least of these fields is given: %s in the contract, %s in the code", got, want)}
	}
	return nil
}

func sorted(choices [][]string) string {
	all := make([]string, len(choices))
	for i, names := range choices {
		all[i] = fmt.Sprint(slices.Sorted(slices.Values(names)))
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// ruleDifferences compares the schema of a value with the rule that the code reads it by.
func ruleDifferences(s *openapi3.Schema, in taken, open bool) []string {
	switch {
	case in.in == "header":
		return nil // what headers may hold is compared below
	case in.object && in.list:
		if !s.Type.Is(openapi3.TypeArray) || int64(s.MinItems) != in.least || s.MaxItems == nil || int64(*s.MaxItems) != in.most {
			return []string{fmt.Sprintf("is no list of %d to %d elements", in.least, in.most)}
		}
		if has := s.Items.Value.AdditionalProperties.Has; !s.Items.Value.Type.Is(openapi3.TypeObject) || has == nil || *has {
			return []string{"is no list of objects without further fields"}
		}
		return nil
	case in.object:
		if !s.Type.Is(openapi3.TypeObject) || !takes(s, open) {
			return []string{map[bool]string{false: "is no object without further fields", true: "is no object with further fields"}[open]}
		}
		return nil
	case in.strings:
		if !s.Type.Is(openapi3.TypeArray) {
			return []string{"is no list"}
		}
		return nil
	case in.list:
		return listDifferences(s, in.rule)
	case in.number != nil:
		return numberDifferences(s, in.number, in.fallback)
	case in.clearable && (len(s.Type.Slice()) != 2 || !s.Type.Includes(openapi3.TypeString) || !s.Type.Includes(openapi3.TypeNull)):
		return []string{"is not a string or null in the contract"}
	case !in.clearable && !s.Type.Is(openapi3.TypeString):
		return []string{"is no string in the contract"}
	case in.check == "input.isTime":
		if s.Format != "date-time" || s.Pattern != "" || s.MaxLength != nil || s.Enum != nil {
			return []string{"is not the format date-time alone"}
		}
		return nil
	case in.text.Trim || in.check != "":
		return textDifferences(s, in.text)
	}
	return patternDifferences(s, in.text)
}

func listDifferences(s *openapi3.Schema, rule rule) []string {
	if !s.Type.Is(openapi3.TypeArray) || !s.UniqueItems || int64(s.MinItems) != rule.least || s.MaxItems == nil || int64(*s.MaxItems) != rule.most {
		return []string{fmt.Sprintf("is no list of %d to %d different elements", rule.least, rule.most)}
	}
	return patternDifferences(s.Items.Value, rule.text)
}

func numberDifferences(s *openapi3.Schema, rule *input.Integer, fallback *int64) []string {
	var want openapi3.Schema
	says := rule.Says()
	if rule.OneOf == nil {
		want.Min, want.Max = new(float64(rule.Least)), new(float64(rule.Most))
	}
	for _, n := range rule.OneOf {
		want.Enum = append(want.Enum, float64(n))
	}
	if fallback != nil {
		want.Default = float64(*fallback)
		says += fmt.Sprintf(", %d where it is left out", *fallback)
	}
	if !s.Type.Is(openapi3.TypeInteger) || !same(s.Min, want.Min) || !same(s.Max, want.Max) || !slices.Equal(s.Enum, want.Enum) || s.Default != want.Default {
		return []string{"is not " + says}
	}
	return nil
}

// patternDifferences compares a rule that is a pattern and bounds of length, and nothing more, with the
// same in the contract; a choice of words may be an enum.
func patternDifferences(s *openapi3.Schema, rule *input.Text) []string {
	var differences []string
	got, want := s.Pattern, ""
	if rule.Pattern != "" {
		want = anchored(rule.Pattern)
	}
	if s.Enum != nil {
		got, want = strings.Join(words(s.Enum), "|"), rule.Pattern
	}
	if got != want || s.Enum != nil && s.Pattern != "" {
		differences = append(differences, fmt.Sprintf("has the pattern %s in the contract, %s in the code", got, want))
	}
	var longest *uint64
	if rule.Max > 0 {
		longest = new(uint64(rule.Max))
	}
	if s.MinLength != uint64(rule.Min) || !same(s.MaxLength, longest) {
		differences = append(differences, fmt.Sprintf("has other lengths in the contract than %d to %d in the code", rule.Min, rule.Max))
	}
	return differences
}

func words(enum []any) []string {
	all := make([]string, len(enum))
	for i, one := range enum {
		all[i] = regexp.QuoteMeta(fmt.Sprint(one))
	}
	return all
}

// anchored is the pattern of a whole value, which the contract has to say and the code means. Of
// alternatives, ^ and $ would else hold the first and the last alone.
func anchored(pattern string) string {
	plain, whole := "^"+pattern+"$", "^(?:"+pattern+")$"
	if a, err := syntax.Parse(plain, syntax.Perl); err == nil {
		if b, err := syntax.Parse(whole, syntax.Perl); err == nil && a.Equal(b) {
			return plain
		}
	}
	return "^(" + pattern + ")$"
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// textDifferences compares a rule that trims, or leaves the last word to a function, with a pattern that
// says the same: they agree on every text that is tried.
func textDifferences(s *openapi3.Schema, rule *input.Text) []string {
	if rule.Pattern != "" {
		return []string{"has a rule with both a pattern and a check, which is new to this test; say here how to compare it"}
	}
	if s.MinLength != 0 || s.MaxLength != nil || s.Enum != nil {
		return []string{"says in the contract with more than its pattern what is taken"}
	}
	key := fmt.Sprint(s.Pattern, rule.Min, rule.Max, rule.Trim, rule.Says)
	if _, done := tried[key]; !done {
		tried[key] = disagreements(s.Pattern, rule)
	}
	return tried[key]
}

// tried holds what came of the patterns that were compared with their rules, which many operations share.
var tried = map[string][]string{}

func disagreements(pattern string, rule *input.Text) []string {
	allowed, err := regexp.Compile(pattern)
	if err != nil {
		return []string{err.Error()}
	}
	for text := range likely(rule) {
		if inContract, inCode := allowed.MatchString(text), rule.Accepts(text); inContract != inCode {
			return []string{fmt.Sprintf("takes %.40q (%d bytes): %v in the contract, %v in the code, which says %s", text, len(text), inContract, inCode, rule.Says)}
		}
	}
	return nil
}
