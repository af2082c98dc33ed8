package contract_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/platform/problem"
)

// codesOf lists the problem codes that an answer documents.
func codesOf(r *openapi3.Response) []string {
	media := r.Content.Get(problem.ContentType)
	if media == nil || media.Schema == nil {
		return nil
	}
	var codes []string
	for _, part := range media.Schema.Value.AllOf {
		if code := part.Value.Properties["code"]; code != nil {
			for _, one := range code.Value.Enum {
				codes = append(codes, one.(string))
			}
		}
	}
	return codes
}

// TestProblems_EveryCode_IsDocumentedForSomeAnswer_UnderItsStatus also finds an answer whose code
// belongs to another status.
func TestProblems_EveryCode_IsDocumentedForSomeAnswer_UnderItsStatus(t *testing.T) {
	seen := map[string]bool{}
	for id, op := range inContract(t) {
		for status, r := range op.Responses.Map() {
			codes := codesOf(r.Value)
			if n, err := strconv.Atoi(status); err == nil && n >= 400 && len(codes) == 0 {
				t.Errorf("%s %s says no problem code", id, status)
			}
			for _, code := range codes {
				seen[code] = true
				if kind := problem.ClassOf(problem.Code(code)); string(kind.Code) != code || strconv.Itoa(kind.Status) != status {
					t.Errorf("%s %s has the code %s, which belongs to %d", id, status, code, kind.Status)
				}
				if says := strings.Join(strings.Fields(*r.Value.Description), " "); !strings.Contains(says, "`"+code+"`: ") {
					t.Errorf("%s %s does not say what %s means there", id, status, code)
				}
			}
		}
	}
	for _, k := range problem.Classes {
		// An answer to a method that a path does not have belongs to no operation.
		if !seen[string(k.Code)] && k.Code != problem.MethodNotAllowed {
			t.Errorf("no operation documents %s", k.Code)
		}
	}
}

// TestProblems_EveryCode_HasASection: what it means, its status, and what to do.
func TestProblems_EveryCode_HasASection(t *testing.T) {
	text := document(t).Tags.Get("Problems").Description
	sections := map[string]string{}
	var order []string
	for _, section := range strings.Split(text, "\n## ")[1:] {
		code, body, _ := strings.Cut(section, "\n")
		sections[code] = body
		order = append(order, code)
	}
	var want []string
	for _, k := range problem.Classes {
		want = append(want, string(k.Code))
		body := sections[string(k.Code)]
		if !strings.HasPrefix(body, "Status "+strconv.Itoa(k.Status)+". ") || !strings.Contains(body, "\n\n**Do:** ") {
			t.Errorf("the section of %s does not begin with its status, or does not say what to do:\n%s", k.Code, body)
		}
	}
	if !slices.Equal(order, want) {
		t.Errorf("the sections are %v\nwant %v", order, want)
	}
}
