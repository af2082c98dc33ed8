package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"wavegate/scripts/operator/api"
	"wavegate/shared/testing/expect"
)

// linesOf reads the lines of a service that answers each cursor with a page and the next cursor.
func linesOf(t *testing.T, pages map[string][2]string) (text string, lines int, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := pages[r.URL.Query().Get("cursor")]
		expect.That(t, r.URL.Path == "/prod/api/organizations/acme/export" && r.URL.Query().Get("limit") == "100",
			"called %s", r.URL)
		if page[1] != "" {
			w.Header().Set("Link", `</prod/api/organizations/acme/export?cursor=`+page[1]+`&limit=100>; rel="next"`)
		}
		_, _ = w.Write([]byte(page[0]))
	}))
	t.Cleanup(server.Close)
	c := &api.Client{URL: server.URL + "/prod", HTTP: server.Client(), Token: func(context.Context, bool) (string, error) { return "t", nil }}
	err = c.Lines(t.Context(), "/api/organizations/acme/export", func(page []byte, n int) error {
		text, lines = text+string(page), lines+n
		return nil
	})
	return text, lines, err
}

func TestLines_FollowTheLinkToTheEnd_AlsoOverAnEmptyPage(t *testing.T) {
	text, lines, err := linesOf(t, map[string][2]string{"": {"{\"kind\":\"a\"}\n", "one"}, "one": {"", "two"},
		"two": {"{\"kind\":\"b\"}\n{\"kind\":\"c\"}\n", ""}})
	expect.That(t, err == nil && lines == 3 && text == "{\"kind\":\"a\"}\n{\"kind\":\"b\"}\n{\"kind\":\"c\"}\n",
		"%q, %d lines, %v", text, lines, err)
}

func TestLines_PageThatEndsWithinALine_IsAnError(t *testing.T) {
	text, _, err := linesOf(t, map[string][2]string{"": {"{\"kind\":\"a\"}\n", "one"}, "one": {`{"kind":`, ""}})
	var unknown *api.Unknown
	expect.That(t, errors.As(err, &unknown) && text == "{\"kind\":\"a\"}\n", "%q, %v", text, err)
}
