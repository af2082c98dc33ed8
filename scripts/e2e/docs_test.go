package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestDocs_AnyoneMayReadTheContract: the pages need no token, and the contract names the server that it was loaded
// from. The test does not use the harness, which checks calls against the contract, because that has no such paths.
func TestDocs_AnyoneMayReadTheContract(t *testing.T) {
	for name, target := range targets(t) {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/docs", "/openapi.yaml"} {
				a := visitPage(t, target, http.MethodGet, path)
				expect.That(t, a.Status == http.StatusOK && a.Header.Get("Content-Security-Policy") != "",
					"%s: %d %v", path, a.Status, a.Header)
				if path != "/openapi.yaml" {
					continue
				}
				document := expect.Value(openapi3.NewLoader().LoadFromData(a.Body))(t)
				got := document.Servers[0].URL
				expect.That(t, got == target.URL, "the contract names %s, and was asked for at %s", got, target.URL)
			}
		})
	}
}

// TestDocs_NothingBesideThem_IsOpen: paths that are neither operations nor pages stay unknown.
func TestDocs_NothingBesideThem_IsOpen(t *testing.T) {
	target := harness.New(t, harness.WithPrefix("/prod")).Target
	for _, path := range operations.DocsPaths {
		for _, other := range []string{path + "/more", path + "x", strings.ToUpper(path), "/api" + path} {
			visitPage(t, target, http.MethodGet, other).Refused(t, problem.NotFound)
		}
		visitPage(t, target, http.MethodPost, path).Refused(t, problem.MethodNotAllowed)
	}
}

// visitPage asks without a token, and for uncompressed answers: SAM passes on compressed ones in the function's
// base64.
func visitPage(t *testing.T, target harness.Target, method, path string) harness.Answer {
	t.Helper()
	return ask(t, method, target.URL+path, "", "Accept-Encoding", "identity")
}
