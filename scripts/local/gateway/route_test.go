package gateway

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/testing/expect"
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
		expect.Equal(t, got.operation.ID, c.operation, "%s %s goes to", c.method, c.path)
		expect.Equal(t, parameters["proxy"], c.proxy, "%s %s has the rest", c.method, c.path)
	}
}

func TestRoute_OrderOfTheTable_DoesNotMatter(t *testing.T) {
	reversed := slices.Clone(routes)
	slices.Reverse(reversed)
	table := newTable(Options{Operations: reversed, Functions: func(string) Invoker { return nil }})
	got, _, _ := table.find("GET", "/api/factories/f/machines/special")
	expect.Equal(t, got.operation.ID, "get-special", "the operation is")
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
			expect.Equal(t, r.header.Get(name), lambdahttp.SecurityHeaders().Get(name), "%s: %s is", c.call, name)
		}
	}
	expect.Equal(t, w.authorizer.calls()+w.function.calls(), 0, "calls of functions:")
}

func TestRoute_Unknown_Is404_WithAndWithoutAToken(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Prefix = "/prod" })
	for _, path := range []string{"/prod/api/nothing", "/api/factories", "/prod", "/production/api/factories", "/prodapi/factories", "/"} {
		w.raw(t, "GET "+path).is(t, "MISSING_AUTHENTICATION_TOKEN", 404)
		w.raw(t, "GET "+path, "No-Token: 1").is(t, "MISSING_AUTHENTICATION_TOKEN", 404)
	}
	w.raw(t, "OPTIONS *").is(t, "MISSING_AUTHENTICATION_TOKEN", 404)
	expect.Equal(t, w.authorizer.calls()+w.function.calls(), 0, "calls of functions:")
}
