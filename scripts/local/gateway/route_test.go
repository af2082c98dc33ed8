package gateway

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/platform/lambdahttp"
)

func TestRoute_IsTheMostSpecificResource(t *testing.T) {
	table := newTable(Options{Operations: routes, Functions: func(string) Invoker { return nil }})
	for _, c := range []struct{ method, path, operation, proxy string }{
		{"GET", "/api/factories", "list-factories", ""},
		{"GET", "/api/factories/", "list-factories", ""},
		{"GET", "/api/factories/f/machines/m", "get-machine", ""},
		{"PUT", "/api/factories/f/machines/m", "put-machine", ""},
		{"GET", "/api/factories/f/machines/m/", "get-machine", ""},
		{"GET", "/api/factories/f/machines/special", "get-special", ""},
		// The best match does not have the method, and hides the others.
		{"PUT", "/api/factories/f/machines/special", "", ""},
		{"GET", "/api/copilot/chat", "copilot", "chat"},
		{"DELETE", "/api/copilot/a/b%2Fc/../d", "copilot", "a/b%2Fc/../d"},
		{"GET", "/api/copilot/a//b", "copilot", "a//b"},
		{"GET", "/api/copilot/a/", "copilot", "a"},
		{"GET", "/api/copilot", "", ""},
		{"GET", "/api/copilot/", "", ""},
		{"DELETE", "/api/factories", "", ""},
		{"HEAD", "/api/factories", "", ""},
		{"OPTIONS", "/api/factories", "", ""},
		{"GET", "/api/factories/f", "", ""},
		{"GET", "/api/factories//machines/m", "", ""},
		{"GET", "/api//factories", "", ""},
		{"GET", "/API/factories", "", ""},
		{"GET", "/", "", ""},
		{"GET", "", "", ""},
	} {
		got, parameters, _ := table.find(c.method, c.path)
		if got.operation.ID != c.operation || parameters["proxy"] != c.proxy {
			t.Errorf("%s %s goes to %q with %v, want %q with %q", c.method, c.path, got.operation.ID, parameters, c.operation, c.proxy)
		}
	}
}

func TestRoute_OrderOfTheTable_DoesNotMatter(t *testing.T) {
	reversed := append(routes[:0:0], routes...)
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	table := newTable(Options{Operations: reversed, Functions: func(string) Invoker { return nil }})
	if got, _, _ := table.find("GET", "/api/factories/f/machines/special"); got.operation.ID != "get-special" {
		t.Errorf("got %q", got.operation.ID)
	}
}

func TestRoute_ResourceWithoutTheMethod_Is405WithAllow(t *testing.T) {
	w := newWorld(t)
	shared := newWorld(t, allowing(app))
	for _, c := range []struct {
		world       *world
		call, allow string
	}{
		{w, "PUT /api/factories/f/machines/special", "GET"},
		{w, "POST /api/factories/f/machines/m", "GET, PUT"},
		{w, "HEAD /api/factories", "GET"},
		{w, "OPTIONS /api/factories", "GET"},
		{shared, "DELETE /api/factories/f/machines/m", "GET, OPTIONS, PUT"},
	} {
		r := c.world.raw(t, c.call, "No-Token: 1")
		if r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != c.allow || r.access.Response != methodNotAllowed {
			t.Errorf("%s: %d, Allow %q, want %q", c.call, r.status, r.header.Get("Allow"), c.allow)
		}
		if !strings.HasPrefix(c.call, "HEAD") && !strings.Contains(r.body, `"code":"METHOD_NOT_ALLOWED"`) {
			t.Errorf("%s: %s", c.call, r.body)
		}
		for name := range lambdahttp.SecurityHeaders() {
			if r.header.Get(name) != lambdahttp.SecurityHeaders().Get(name) {
				t.Errorf("%s: %s is %q", c.call, name, r.header.Get(name))
			}
		}
	}
	if w.authorizer.calls()+w.function.calls() != 0 {
		t.Error("a function was called")
	}
}

func TestRoute_Unknown_Is404_WithAndWithoutAToken(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Prefix = "/prod" })
	for _, path := range []string{"/prod/api/nothing", "/api/factories", "/prod", "/production/api/factories", "/prodapi/factories", "/"} {
		w.raw(t, "GET "+path).is(t, "MISSING_AUTHENTICATION_TOKEN", 404)
		w.raw(t, "GET "+path, "No-Token: 1").is(t, "MISSING_AUTHENTICATION_TOKEN", 404)
	}
	w.raw(t, "OPTIONS *").is(t, "MISSING_AUTHENTICATION_TOKEN", 404)
	if w.authorizer.calls()+w.function.calls() != 0 {
		t.Error("a function was called")
	}
}
