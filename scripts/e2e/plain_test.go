package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// A plain client calls without the harness, which checks each call against the contract: the contract has neither the
// paths at the root nor bodies that are not JSON.
type plain struct{ authorization, url string }

// call makes a call that is answered with 200, and returns the body.
func (p plain) call(t *testing.T, method, url, body string, header ...string) string {
	t.Helper()
	status, answer := p.try(t, method, url, body, header...)
	if status != http.StatusOK {
		t.Fatalf("%s %s %s is answered with %d %s", method, url, body, status, answer)
	}
	return answer
}

func (p plain) try(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", p.authorization)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// between returns the part between two texts.
func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	got, _, ends := strings.Cut(rest, after)
	if !found || !ends {
		t.Fatalf("%s is not in %s", before, text)
	}
	return got
}
