package lambdahttp_test

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestOrigins_OnlyPagesOfAllowedOrigins_MayReadAnswers(t *testing.T) {
	missing := func(*lambdahttp.Call) (lambdahttp.Answer, error) { return lambdahttp.Answer{}, problem.Missing() }
	for name, c := range map[string]struct {
		allowed []string
		asks    string
		handle  lambdahttp.Handler
		allows  []string
		varies  []string
	}{
		"an allowed origin":            {[]string{"https://a.example", "https://b.example"}, "https://b.example", answers("x"), []string{"https://b.example"}, []string{"Origin"}},
		"an allowed origin, a refusal": {[]string{"https://a.example"}, "https://a.example", missing, []string{"https://a.example"}, []string{"Origin"}},
		"another origin":               {[]string{"https://a.example"}, "https://evil.example", answers("x"), nil, []string{"Origin"}},
		"no page":                      {[]string{"https://a.example"}, "", answers("x"), nil, []string{"Origin"}},
		"any origin, without a name":   {nil, "https://a.example", answers("x"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := newBench(), event()
			t.Setenv("CORS_ORIGINS", strings.Join(c.allowed, ","))
			e.MultiValueHeaders["Origin"] = []string{c.asks}
			header := http.Header(b.call(t, e, c.handle).MultiValueHeaders)
			expect.Equal(t, header.Values("Access-Control-Allow-Origin"), c.allows, "the answer may be read by")
			expect.Equal(t, header.Values("Vary"), c.varies, "the answer varies by")
			got := header.Get("Access-Control-Expose-Headers")
			expect.That(t, (got != "") == (c.allows != nil), "the page may read %q", got)
		})
	}
}

// TestSecurityHeaders_AreOnEveryAnswer also checks the values: the gateway's mappings put them
// between single quotes.
func TestSecurityHeaders_AreOnEveryAnswer(t *testing.T) {
	missing := func(*lambdahttp.Call) (lambdahttp.Answer, error) { return lambdahttp.Answer{}, problem.Missing() }
	for name, handle := range map[string]lambdahttp.Handler{"an answer": answers("x"), "a refusal": missing} {
		header := http.Header(newBench().call(t, event(), handle).MultiValueHeaders)
		for field, want := range lambdahttp.SecurityHeaders() {
			expect.Equal(t, header.Values(field), want, "%s: %s is", name, field)
		}
	}
	for field, values := range lambdahttp.SecurityHeaders() {
		expect.That(t, len(values) == 1 && !strings.Contains(values[0], "'"), "%s is %q", field, values)
	}
}
