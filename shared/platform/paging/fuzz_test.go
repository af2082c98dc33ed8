package paging_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
)

// FuzzCursor checks that any text is either invalid, or exactly the cursor of its position in
// this query and in no other.
func FuzzCursor(f *testing.F) {
	query := paging.Query{Path: "/api/audit-events", Filter: url.Values{"resourceType": {"rollout"}}}
	other := paging.Query{Path: "/api/audit-events"}
	position := "2026-03-01T12:00:00.000Z#0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"
	good := query.Pack(position)
	for _, seed := range []string{good, other.Pack(position), "", good[:20], good + "A", good + "=", good + "\n", "AQ", "%00", query.Pack("\x00")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.RawQuery = url.Values{"cursor": {text}}.Encode()
		in := input.Of(r, input.Takes{})
		cursor := paging.ByCursor(in)
		if in.Err() != nil {
			return
		}
		everything := func(string) bool { return true }
		position, err := cursor.Position(query, everything)
		switch {
		case err != nil && !problem.Has(err, problem.InvalidCursor):
			t.Fatalf("refused with %v", err)
		case err == nil && query.Pack(position) != text:
			t.Fatalf("%q was accepted as the cursor of %q", text, position)
		}
		if _, elsewhere := cursor.Position(other, everything); err == nil && elsewhere == nil {
			t.Fatalf("%q opens in another query", text)
		}
	})
}
