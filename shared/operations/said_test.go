package operations_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestIdempotencyKey_EachFieldOfEachBody_IsOfTheClaim changes every field of the body of every operation that takes a key,
// and leaves it out. A claim to the key is over what the body says, so each time it must be another claim.
func TestIdempotencyKey_EachFieldOfEachBody_IsOfTheClaim(t *testing.T) {
	for _, op := range table.All {
		if !op.Takes.IdempotencyKey {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			whole := valueOf(op.Takes.Body, "a")
			seen := map[string]string{said(t, op, whole): "the whole body"}
			count := 0
			for name, other := range variations("", op.Takes.Body, whole) {
				claim := said(t, op, other)
				if was, twice := seen[claim]; twice {
					t.Errorf("%s and %s are one claim: %s", name, was, claim)
				}
				seen[claim] = name
				count++
			}
			expect.That(t, count >= 2*len(op.Takes.Body.Fields), "only %d bodies of %d fields", count, len(op.Takes.Body.Fields))
			t.Logf("%d bodies", count)
		})
	}
}

// said is the canonical form of what a body says to an operation.
func said(t *testing.T, op operations.Operation, body any) string {
	t.Helper()
	text := expect.Value(json.Marshal(body))(t)
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(text)))
	r.Header.Set("Content-Type", "application/json")
	in := input.Of(r, op.Takes)
	in.Settings = &setting.Values{}
	op.Reads(in)
	return string(expect.Value(canonical.Encode(in.Said()))(t))
}

// valueOf is a value of the kind that a rule takes; another text is another value.
func valueOf(rule input.Rule, text string) any {
	switch rule := rule.(type) {
	case *input.Integer, input.Number:
		return len(text)
	case input.Boolean:
		return len(text)%2 == 0
	case *input.List:
		return []any{valueOf(rule.Of, text)}
	case *input.Shape:
		object := map[string]any{}
		for _, f := range rule.Fields {
			object[f.Name] = valueOf(f.Is, text)
		}
		if rule.Names != nil {
			of := rule.Values
			if of == nil {
				of = &input.Text{}
			}
			object["name"] = valueOf(of, text)
		}
		return object
	}
	return text
}

// variations are the whole value with one part at any depth changed or left out, by the name of the part.
func variations(at string, rule input.Rule, whole any) map[string]any {
	all := map[string]any{}
	switch rule := rule.(type) {
	case *input.List:
		element := whole.([]any)[0]
		for name, other := range variations(at+"/0", rule.Of, element) {
			all[name] = []any{other}
		}
		all[at+" twice"] = []any{element, element}
	case *input.Shape:
		of := whole.(map[string]any)
		for name, value := range of {
			field, declared := rule.Fields.Find(name)
			if !declared {
				field.Is = rule.Values
			}
			with := func(what string, value any) {
				other := map[string]any{}
				for n, v := range of {
					other[n] = v
				}
				if other[name] = value; value == nil {
					delete(other, name)
				}
				all[what] = other
			}
			with(fmt.Sprintf("without %s/%s", at, name), nil)
			for part, value := range variations(at+"/"+name, field.Is, value) {
				with(part, value)
			}
		}
	default:
		all[at] = valueOf(rule, "bb")
	}
	return all
}
