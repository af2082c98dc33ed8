package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/contract"
	"wavegate/shared/testing/expect"
)

// inPython matches the declaration of a body in the Python client.
var inPython = regexp.MustCompile(`(?m)^    body: (.+),$`)

// pythonBodies checks that the Python client has its own class for the body of every operation.
func pythonBodies(t *testing.T, client string) {
	t.Helper()
	files := expect.Value(filepath.Glob(filepath.Join(client, "api", "*", "*.py")))(t)
	found := 0
	for _, file := range files {
		b := expect.Value(os.ReadFile(file))(t)
		body := inPython.FindSubmatch(b)
		if body == nil {
			continue
		}
		found++
		if !regexp.MustCompile(`(?m)^from \.\.\.models\.\w+ import ` + regexp.QuoteMeta(string(body[1])) + `$`).Match(b) {
			t.Errorf("%s takes %s, which is not a class of the client", filepath.Base(file), body[1])
		}
	}
	countBodies(t, found)
}

// inGo matches the declaration of a body in the Go client.
var inGo = regexp.MustCompile(`(?m)^type (\w+)JSONRequestBody = (\w+)$`)

// goBodies checks that the Go client has a struct for the body of every operation, and no type that is anything.
func goBodies(t *testing.T, file string) {
	t.Helper()
	b := expect.Value(os.ReadFile(file))(t)
	all := inGo.FindAllSubmatch(b, -1)
	for _, body := range all {
		if !regexp.MustCompile(`(?m)^type ` + string(body[2]) + ` struct \{$`).Match(b) {
			t.Errorf("%s takes %s, which is not a struct", body[1], body[2])
		}
	}
	if anything := regexp.MustCompile(`(?m)^type \w+ = interface\{\}$|\bunion +json\.RawMessage`).Find(b); anything != nil {
		t.Errorf("the client has %s", anything)
	}
	countBodies(t, len(all))
}

// countBodies compares the number of typed bodies with the number of operations that take JSON. The TypeScript client
// checks its own in session.ts, at compile time.
func countBodies(t *testing.T, found int) {
	t.Helper()
	document := expect.Value(openapi3.NewLoader().LoadFromData(contract.Document))(t)
	want := 0
	for _, item := range document.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil && op.RequestBody.Value.Content["application/json"] != nil {
				want++
			}
		}
	}
	expect.Equal(t, found, want, "the client types the bodies of operations:")
}
