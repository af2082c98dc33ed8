package contract_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/testing/expect"
)

// TestSamples_OfEveryOperation_AreItsCalls: each is one curl call with the operation's method and path, the token, and
// a body that the contract allows. The generated clients' tests paste them into a shell.
func TestSamples_OfEveryOperation_AreItsCalls(t *testing.T) {
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			samples, _ := op.Extensions["x-codeSamples"].([]any)
			if len(samples) != 1 {
				t.Errorf("%s has %d samples", op.OperationID, len(samples))
				continue
			}
			call := shellWords(t, samples[0].(map[string]any)["source"].(string))
			got := called{Method: "GET"}
			for i := 0; i < len(call); i++ {
				switch word := call[i]; word {
				case "curl", "-i":
				case "-X":
					i++
					got.Method = call[i]
				case "-H":
					i++
					got.Headers = append(got.Headers, call[i])
				case "-d":
					i++
					got.Body = call[i]
				default:
					got.URL = word
				}
			}
			got.check(t, op, method, path)
		}
	}
}

// called is what a sample does.
type called struct {
	Method, URL, Body string
	Headers           []string
}

func (c called) check(t *testing.T, op *openapi3.Operation, method, path string) {
	t.Helper()
	if c.Method != method || !slices.Contains(c.Headers, "Authorization: Bearer $TOKEN") || !fits(strings.TrimPrefix(c.URL, "$BASE"), path) {
		t.Errorf("%s: %s %s %v", op.OperationID, c.Method, c.URL, c.Headers)
	}
	takes := op.RequestBody != nil && op.RequestBody.Value.Content["application/json"] != nil
	if takes != (c.Body != "") || takes != slices.Contains(c.Headers, "Content-Type: application/json") {
		t.Errorf("%s takes a body: %v; the sample sends %q", op.OperationID, takes, c.Body)
		return
	}
	if !takes {
		return
	}
	var body any
	err := json.Unmarshal([]byte(c.Body), &body)
	if err == nil {
		err = op.RequestBody.Value.Content["application/json"].Schema.Value.VisitJSON(body, openapi3.EnableJSONSchema2020())
	}
	expect.That(t, err == nil, "%s sends %s: %v", op.OperationID, c.Body, err)
}

// fits reports whether an address is one of a path.
func fits(address, path string) bool {
	at, err := url.Parse(address)
	if err != nil {
		return false
	}
	got, want := strings.Split(at.EscapedPath(), "/"), strings.Split(path, "/")
	for i := range want {
		if strings.HasPrefix(want[i], "{") && i < len(got) && got[i] != "" && !strings.HasPrefix(got[i], "{") {
			want[i] = got[i]
		}
	}
	return slices.Equal(got, want)
}

// shellWords splits a line into words as a shell does.
func shellWords(t *testing.T, line string) (all []string) {
	t.Helper()
	word, quote, escaped, open := "", rune(0), false, false
	for _, r := range line + "\n" {
		switch {
		case escaped:
			if r != '\n' {
				word, open = word+string(r), true
			}
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\n'):
			if open {
				all, word, open = append(all, word), "", false
			}
		default:
			word, open = word+string(r), true
		}
	}
	expect.That(t, quote == 0, "a quote is not closed in %s", line)
	return all
}
