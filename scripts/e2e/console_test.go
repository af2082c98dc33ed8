package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestConsole_AnyoneMayLoadThePage: also below a deployment's path, and its files are next to it. The page can call
// its own service, the sign-in that the service names, and the store of artifacts.
func TestConsole_AnyoneMayLoadThePage(t *testing.T) {
	w := harness.New(t, harness.WithPrefix("/prod"))
	target := w.Target
	page := visitPage(t, target, http.MethodGet, operations.ConsolePath)
	config := visitPage(t, target, http.MethodGet, operations.LoginPath)
	endpoint := regexp.MustCompile(`"tokenEndpoint":"(https?://[^/"]+)`).FindSubmatch(config.Body)
	expect.Must(t, page.Status == http.StatusOK && endpoint != nil, "%d, and the login is %s", page.Status, config.Body)
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self' "+string(endpoint[1])+" "+w.ArtifactURL+";") {
		t.Errorf("the policy is %q, and codes are exchanged at %s", policy, endpoint[1])
	}
	files := regexp.MustCompile(`"(console/[^"]*)"`).FindAllSubmatch(page.Body, -1)
	expect.That(t, len(files) >= 10, "the page names %d files", len(files))
	for _, file := range files {
		if a := visitPage(t, target, http.MethodGet, "/"+string(file[1])); a.Status != http.StatusOK {
			t.Errorf("%s: %d", file[1], a.Status)
		}
	}
}

// TestConsole_NothingBesideIt_IsOpen: paths that are neither operations nor pages stay unknown.
func TestConsole_NothingBesideIt_IsOpen(t *testing.T) {
	target := harness.New(t).Target
	for _, other := range []string{"/console/main.mjs", "/console/a/b/c", "/Console", "/api/console"} {
		visitPage(t, target, http.MethodGet, other).Refused(t, problem.NotFound)
	}
	visitPage(t, target, http.MethodPost, operations.ConsolePath).Refused(t, problem.MethodNotAllowed)
}
