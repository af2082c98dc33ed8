package copilot

import (
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

// FuzzTarget checks any path: it is refused, or it leads into the configured part of the assistant, on the configured
// host, even if the assistant resolves dot segments.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		"chat", "", "a/b", "../admin", "%2e%2e/admin", "%252e%252e/admin", "..%2fadmin", "a%5c..%5cb", `..\admin`, "//other.example/x", "@other.example",
		"?x", "%3fx", "#x", "%00", "%zz", "%", "%252e%252e/%25zz", "a%20b", "ä",
	} {
		f.Add(seed)
	}
	base := expect.Value(url.Parse("https://assistant.example:8443/v1/in%2Fside"))(f)
	forwarder := New(Settings{URL: base}, nil, time.Now)
	f.Fuzz(func(t *testing.T, rest string) {
		target, err := forwarder.target(rest)
		if err != nil {
			return
		}
		sent, err := url.Parse(target.String())
		expect.Must(t, err == nil, "%q leads to %q, which is no URL: %v", rest, target, err)
		expect.Must(t, sent.Scheme == "https" && sent.Host == base.Host && sent.User == nil,
			"%q leads to %s", rest, sent)
		resolved := path.Clean(strings.ReplaceAll(sent.Path, `\`, "/"))
		if resolved != base.Path && !strings.HasPrefix(resolved, base.Path+"/") {
			t.Fatalf("%q leads to %s, that is %s", rest, sent, resolved)
		}
	})
}
