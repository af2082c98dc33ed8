package e2e

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/testing/expect"
)

// ask makes a call without the harness, which checks each call against the contract: the contract has neither pages, nor
// the paths at the root, nor bodies that are not JSON.
func ask(t *testing.T, method, url, body string, header ...string) harness.Answer {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	if body != "" && !slices.Contains(header, "Content-Type") {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	b := expect.Value(io.ReadAll(res.Body))(t)
	return harness.Answer{Status: res.StatusCode, Header: res.Header, Body: b}
}

// between returns the part between two texts.
func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	got, _, ends := strings.Cut(rest, after)
	expect.Must(t, found && ends, "%s is not in %s", before, text)
	return got
}
