package conform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"wavegate/shared/platform/problem"
)

// match matches a path against a template of the contract. A parameter matches one segment. {proxy} at the end, which
// is how the contract writes the gateway's {proxy+}, matches the rest.
func match(template, path string) (map[string]string, bool) {
	values := map[string]string{}
	pattern, segments := strings.Split(template, "/"), strings.Split(path, "/")
	for i, want := range pattern {
		if i >= len(segments) {
			return nil, false
		}
		got := segments[i]
		if want == "{proxy}" && i == len(pattern)-1 {
			got, segments = strings.Join(segments[i:], "/"), segments[:i+1]
		}
		switch name, parameter := strings.CutPrefix(want, "{"); {
		case !parameter && got != want, parameter && got == "":
			return nil, false
		case parameter:
			value, err := url.PathUnescape(got)
			if err != nil {
				value = got
			}
			values[strings.TrimSuffix(name, "}")] = value
		}
	}
	return values, len(segments) == len(pattern)
}

// noRoute checks the answer to a path that belongs to no operation: the gateway's own answer, which is a problem.
func (c *Checker) noRoute(x Exchange) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s %s is not an operation of the contract, and was answered %d: %w", x.Method, x.Target, x.Status, fmt.Errorf(format, args...))
	}
	var body any
	switch err := json.Unmarshal(x.AnswerBody, &body); {
	case x.Status == http.StatusMethodNotAllowed:
		if err := c.noMethod(x, body); err != nil {
			return fail("%w", err)
		}
		return nil
	case x.Status != http.StatusNotFound:
		return fail("want 404 or 405")
	case x.Answer.Get("Content-Type") != problem.ContentType:
		return fail("the media type is %q", x.Answer.Get("Content-Type"))
	case err != nil:
		return fail("%w", err)
	}
	documented := c.doc.Components.Responses["NotFound"].Value
	schema := documented.Content[problem.ContentType].Schema.Value
	if err := errors.Join(headers(documented, x.Answer), schema.VisitJSON(body, openapi3.EnableJSONSchema2020())); err != nil {
		return fail("%w", err)
	}
	return nil
}

// noMethod checks the answer to a method that a path does not have against the section of its code.
func (c *Checker) noMethod(x Exchange, body any) error {
	if x.Answer.Get("Allow") == "" {
		return errors.New("the header Allow is missing")
	}
	if x.Method == http.MethodHead { // its answer never has a body
		return nil
	}
	if fields, _ := body.(map[string]any); fields["code"] != string(problem.MethodNotAllowed) {
		return fmt.Errorf("the code is %v", fields["code"])
	}
	return c.doc.Components.Schemas["Problem"].Value.VisitJSON(body, openapi3.EnableJSONSchema2020())
}

// DependsOn marks a parameter or a field whose valid values depend on something that no schema can express: another
// value, the caller or the time.
const DependsOn = "x-depends-on"

// faultsBeyondSchemas explains the refusal of a request that the contract's schemas allow by rules that no schema can
// express. It returns an error if there is no such explanation.
func faultsBeyondSchemas(route *routers.Route, body []byte) error {
	var p struct {
		Code   problem.Code
		Detail string
		Errors []struct{ Code, Pointer, Parameter, Detail string }
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return fmt.Errorf("the problem cannot be read: %w", err)
	}
	switch p.Code {
	case problem.InvalidJSON, problem.InvalidCursor:
		return nil // text that is not JSON, and made-up cursors
	}
	for _, fault := range p.Errors {
		// Whether a joiner or a variation selector is seen depends on the characters around it.
		if fault.Code == "duplicate" || strings.Contains(fault.Detail, "; character ") {
			return nil
		}
		if dependent(route.PathItem, route.Operation)[cmp.Or(fault.Parameter, outermost(fault.Pointer))] {
			return nil
		}
	}
	return fmt.Errorf("the service refused a request that the contract allows: %s %s %v", p.Code, p.Detail, p.Errors)
}

// outermost is the pointer to the field of the body that a pointer leads into.
func outermost(pointer string) string {
	if i := strings.Index(strings.TrimPrefix(pointer, "/"), "/"); i >= 0 {
		return pointer[:i+1]
	}
	return pointer
}

// Dependent lists the operations with a value that is marked with DependsOn. They may refuse a request that the schemas allow.
func (c *Checker) Dependent() []string {
	var ids []string
	for _, item := range c.doc.Paths.Map() {
		for _, op := range item.Operations() {
			if len(dependent(item, op)) > 0 {
				ids = append(ids, op.OperationID)
			}
		}
	}
	return ids
}

// dependent lists the parameters of an operation, and pointers to the fields of its body, that are
// marked.
func dependent(item *openapi3.PathItem, op *openapi3.Operation) map[string]bool {
	marked := map[string]bool{}
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		if _, is := p.Value.Extensions[DependsOn]; is {
			marked[p.Value.Name] = true
		}
	}
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Value.Content {
			for name, field := range media.Schema.Value.Properties {
				_, is := field.Value.Extensions[DependsOn]
				if _, beside := field.Extensions[DependsOn]; is || beside { // beside a reference
					marked["/"+name] = true
				}
			}
		}
	}
	return marked
}

// closeAnswers makes the schemas of answers refuse fields that they do not name. Callers are told to
// ignore such fields, so that new ones can be added; the tests must not.
func closeAnswers(doc *openapi3.T) {
	seen := map[*openapi3.Schema]bool{}
	var visit func(*openapi3.SchemaRef)
	visit = func(ref *openapi3.SchemaRef) {
		if ref == nil || ref.Value == nil || seen[ref.Value] {
			return
		}
		s := ref.Value
		seen[s] = true
		if s.Type.Is(openapi3.TypeObject) && len(s.Properties) > 0 && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
			s.AdditionalProperties = openapi3.AdditionalProperties{Has: new(false)}
		}
		for _, p := range s.Properties {
			visit(p)
		}
		visit(s.Items)
		for _, list := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
			for _, one := range list {
				visit(one)
			}
		}
	}
	answers := func(r *openapi3.ResponseRef) {
		for _, media := range r.Value.Content {
			visit(media.Schema)
		}
	}
	for _, r := range doc.Components.Responses {
		answers(r)
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, r := range op.Responses.Map() {
				answers(r)
			}
		}
	}
}
