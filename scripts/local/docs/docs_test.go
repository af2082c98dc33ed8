package docs_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wavegate/scripts/local/docs"
	"wavegate/scripts/local/gateway"
	"wavegate/shared/contract"
)

// get asks a gateway that has the pages and no operation.
func get(t *testing.T, renderer, path string) *http.Response {
	t.Helper()
	server := httptest.NewServer(gateway.New(gateway.Options{Pages: docs.Pages(renderer)}))
	t.Cleanup(server.Close)
	res, err := http.Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestContract_IsServedAsItIs(t *testing.T) {
	res := get(t, "none", "/openapi.yaml")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/yaml" || text(t, res) != string(contract.Document) {
		t.Errorf("got %d %v", res.StatusCode, res.Header)
	}
}

func TestDocs_WithoutTheRenderer_SayHowToGetIt(t *testing.T) {
	res := get(t, filepath.Join(t.TempDir(), "redoc.js"), "/docs")
	if body := text(t, res); !strings.Contains(body, "./scripts/contract docs") || !strings.Contains(body, "/openapi.yaml") {
		t.Errorf("the page is %s", body)
	}
}

// TestDocs_LoadNothingFromElsewhere: the policy allows no other host, and the page asks for none.
func TestDocs_LoadNothingFromElsewhere(t *testing.T) {
	renderer := filepath.Join(t.TempDir(), "redoc.js")
	if err := os.WriteFile(renderer, []byte("/* renderer */"), 0o600); err != nil {
		t.Fatal(err)
	}
	res := get(t, renderer, "/docs")
	page := text(t, res)
	policy := res.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy is %q", policy)
	}
	for _, link := range regexp.MustCompile(`(?:src|href|spec-url)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		switch link[1] {
		case "data:,", "/openapi.yaml":
		case "/docs/redoc.js":
			if got := text(t, get(t, renderer, link[1])); got != "/* renderer */" {
				t.Errorf("the renderer is %q", got)
			}
		default:
			t.Errorf("the page refers to %s", link[1])
		}
	}
}
