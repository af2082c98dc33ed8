package gateway

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

const app = "https://app.example"

func allowing(origins ...string) func(*Options) {
	return func(o *Options) { o.Origins = origins }
}

func TestPreflight_OfAllowedOrigins_IsAnsweredWithoutTokenOrFunction(t *testing.T) {
	w := newWorld(t, allowing(app, "https://admin.example"))
	for _, path := range []string{"/api/factories", "/api/factories/f-1/machines/m-1", "/api/copilot/a/b"} {
		r := w.raw(t, "OPTIONS "+path, "Origin: "+app, "Access-Control-Request-Method: PUT")
		if r.status != http.StatusNoContent || r.header.Get("Access-Control-Allow-Origin") != app || r.header.Get("Vary") != "Origin" {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
		expect.That(t, strings.Contains(r.header.Get("Access-Control-Allow-Headers"), "Authorization") &&
			strings.Contains(r.header.Get("Access-Control-Allow-Methods"), "PATCH"),
			"%s: a page may send %v", path, r.header)
	}
	if r := w.raw(t, "OPTIONS /api/factories",
		"Origin: https://app.example.evil.example"); r.status != http.StatusNoContent ||
		r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another origin: %d %v", r.status, r.header)
	}
	expect.Equal(t, w.function.calls()+w.authorizer.calls(), 0, "calls beyond the gateway:")
}

func TestPreflight_UnknownPathOrNoOrigins_IsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		reply  reply
		status int
	}{
		"no such resource": {newWorld(t, allowing(app)).raw(t, "OPTIONS /api/no-such", "Origin: "+app), http.StatusNotFound},
		"no origins":       {newWorld(t).raw(t, "OPTIONS /api/factories", "Origin: "+app), http.StatusMethodNotAllowed},
		"a page of this service": {newWorld(t, allowing(app), func(o *Options) { o.Docs = &fake{answer: answers(okAnswer)} }).
			raw(t, "OPTIONS /docs", "Origin: "+app), http.StatusMethodNotAllowed},
	} {
		expect.That(t, c.reply.status == c.status && c.reply.header.Get("Access-Control-Allow-Methods") == "",
			"%s: %d %v", name, c.reply.status, c.reply.header)
	}
}

// TestOwnAnswers_MayBeReadByTheOnlyOrigin_OrByAnyOfSeveral: the headers of these answers are
// fixed in the stack, and cannot contain a list.
func TestOwnAnswers_MayBeReadByTheOnlyOrigin_OrByAnyOfSeveral(t *testing.T) {
	for name, c := range map[string]struct {
		world *world
		want  string
	}{
		"none": {newWorld(t), ""},
		"one":  {newWorld(t, allowing(app)), app},
		"two":  {newWorld(t, allowing(app, "https://admin.example")), "*"},
	} {
		for call, exposes := range map[string]string{"GET /api/no-such": "", "DELETE /api/factories": "Allow"} {
			r := c.world.raw(t, call, "Origin: "+app)
			expect.Equal(t, r.header.Get("Access-Control-Allow-Origin"), c.want, "%s: %s may be read by", name, call)
			if got := r.header.Get("Access-Control-Expose-Headers"); c.want != "" && got != exposes {
				t.Errorf("%s: %s: such a page may read %q, want %q", name, call, got, exposes)
			}
		}
	}
}

// TestDocs_NeedNoToken: the pages are public, but only for GET.
func TestDocs_NeedNoToken(t *testing.T) {
	docs := &fake{answer: answers(okAnswer)}
	w := newWorld(t, func(o *Options) { o.Docs = docs })
	got := []int{w.raw(t, "GET /openapi.yaml").status, docs.calls(), w.authorizer.calls()}
	expect.Equal(t, got, []int{http.StatusOK, 1, 0}, "the status, and calls of the function and of the authorizer:")
	expect.Equal(t, docs.last(t)["resource"], "/openapi.yaml", "the function was asked for")
	r := w.raw(t, "POST /docs")
	expect.Equal(t, []any{r.status, r.header.Get("Allow")}, []any{http.StatusMethodNotAllowed, "GET"}, "POST is answered with")
	expect.Equal(t, newWorld(t).raw(t, "GET /docs").status, http.StatusNotFound, "without the function:")
}
