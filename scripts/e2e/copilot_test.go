package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/copilot"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

const secret = "s3cret between us"

// setting sets a variable of every function.
func withSettings(variables ...string) func(*service.Options) {
	return func(o *service.Options) {
		before := o.Environment
		o.Environment = func(function string) []string {
			var env []string
			if before != nil {
				env = before(function)
			}
			return append(env, variables...)
		}
	}
}

// withAssistant runs an assistant that answers 200 to everything.
func withAssistant(t *testing.T) func(*service.Options) {
	return assistantOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
}

// assistantOf runs an assistant under its own path.
func assistantOf(t *testing.T, handler http.HandlerFunc) func(*service.Options) {
	upstream := httptest.NewServer(handler)
	t.Cleanup(upstream.Close)
	return withSettings("COPILOT_URL="+upstream.URL+"/v1", "COPILOT_SECRET="+secret, "COPILOT_TIMEOUT_SECONDS=1")
}

// statusOf returns the status that an assistant chooses itself.
func statusOf(method string) int {
	if method == http.MethodGet {
		return http.StatusTeapot
	}
	return http.StatusOK
}

func TestCopilot_RequestAndAnswer_PassUnchanged(t *testing.T) {
	binary := bytes.Repeat([]byte{0, 1, 0xfe, 0xff, '\n'}, 1000)
	var mu sync.Mutex
	var seen *http.Request
	var body []byte
	w := harness.New(t, assistantOf(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen, body = r, b
		mu.Unlock()
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Add("Content-Language", "de")
		w.Header().Set("RateLimit", "the assistant's own")
		w.Header().Set(copilot.HeaderSecret, "told")
		w.WriteHeader(statusOf(r.Method))
		_, _ = w.Write(binary)
	}))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		t.Run(method, func(t *testing.T) {
			sent := ""
			if method != http.MethodGet {
				sent = string(binary)
			}
			a := w.Engineer(t, "acme").Do(t, method, "/api/copilot/threads/a%2Fb/x%20y?q=1&q=2&r=%26", sent,
				"Content-Type", "application/octet-stream", "X-Mine", "kept")
			expect.That(t, bytes.Equal(a.Body, binary), "answered %d bytes", len(a.Body))
			expect.Equal(t, a.Status, statusOf(method), "answered")
			if h := a.Header; h.Get("Content-Language") != "de" || h.Get(copilot.HeaderSecret) != "" ||
				strings.Contains(h.Get("RateLimit"), "assistant") {
				t.Errorf("the assistant's own headers are %v", h)
			}
			mu.Lock()
			defer mu.Unlock()
			if seen.Method != method || seen.URL.EscapedPath() != "/v1/threads/a%2Fb/x%20y" || string(body) != sent {
				t.Errorf("the assistant saw %s %s with %d bytes", seen.Method, seen.URL, len(body))
			}
			expect.Equal(t, fmt.Sprint(seen.URL.Query()), "map[q:[1 2] r:[&]]", "the query was")
			if seen.Header.Get("X-Mine") != "kept" || seen.Header.Get("Content-Type") != "application/octet-stream" {
				t.Errorf("the headers were %v", seen.Header)
			}
		})
	}
}

// TestCopilot_OtherMethod_IsRefused: the assistant trusts calls with the shared secret. The call is refused with or
// without an assistant.
func TestCopilot_OtherMethod_IsRefused(t *testing.T) {
	set := harness.New(t, assistantOf(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the assistant was asked by %s", r.Method)
	}))
	for _, w := range []*harness.World{set, harness.New(t)} {
		for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodTrace, "PROPFIND"} {
			a := w.Engineer(t, "acme").Do(t, method, "/api/copilot/chat", "")
			if allow := a.Header.Get("Allow"); a.Status != http.StatusMethodNotAllowed || allow != strings.Join(copilot.Methods, ", ") {
				t.Errorf("%s: answered %d, Allow %q: %s", method, a.Status, allow, a.Body)
			} else if method != http.MethodHead {
				a.Refused(t, problem.MethodNotAllowed)
			}
		}
	}
}

// TestCopilot_RequestThatNoClientSends_IsRefused writes the request lines of CONNECT and of a path that
// cannot be decoded, byte by byte: clients send neither.
func TestCopilot_RequestThatNoClientSends_IsRefused(t *testing.T) {
	w := harness.New(t, assistantOf(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the assistant was asked by %s for %s", r.Method, r.URL)
	}))
	caller := w.Engineer(t, "acme")
	faults := caller.Get(t, "/api/copilot/%2e%2e/admin").Refused(t, problem.ValidationFailed).Errors
	expect.Equal(t, faults[0].Parameter, "proxy", "the faults %v are of", faults)
	address := strings.TrimPrefix(caller.URL, "http://")
	for line, status := range map[string]int{
		"CONNECT /api/copilot/chat":     http.StatusMethodNotAllowed,
		"TRACE /api/copilot/chat":       http.StatusMethodNotAllowed,
		"GET /api/copilot/%zz":          http.StatusBadRequest,
		"GET /api/copilot/%2e%2e;/chat": http.StatusBadRequest,
	} {
		c := expect.Value(net.Dial("tcp", address))(t)
		t.Cleanup(func() { c.Close() })
		expect.Value(fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n\r\n", line, address, caller.Bearer))(t)
		res := expect.Value(http.ReadResponse(bufio.NewReader(c), nil))(t)
		var d problem.Document
		expect.OK(t, json.NewDecoder(res.Body).Decode(&d))
		expect.Equal(t, []int{res.StatusCode, d.Status}, []int{status, status}, "%s: the statuses of the problem %+v", line, d)
	}
}

// TestCopilot_TooLongAQuestion_IsRefused: a body reaches the function as base64, in an event of at most 6 MiB. API
// Gateway refuses larger ones.
func TestCopilot_TooLongAQuestion_IsRefused(t *testing.T) {
	var got atomic.Int64
	w := harness.New(t, assistantOf(t, func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got.Store(n)
	}))
	for _, c := range []struct {
		bytes int
		taken bool
	}{{4_500_000, true}, {4_500_001, false}, {4_800_000, false}, {9_000_000, false}} {
		got.Store(0)
		a := w.Engineer(t, "acme").Post(t, "/api/copilot/chat", strings.Repeat("\xff", c.bytes), "Content-Type", "application/octet-stream")
		if !c.taken {
			a.Refused(t, problem.BodyTooLarge)
		}
		if reached := got.Load(); c.taken && reached != int64(c.bytes) || !c.taken && reached != 0 {
			t.Errorf("of %d bytes the assistant got %d: %d", c.bytes, reached, a.Status)
		}
	}
}

func TestCopilot_Identity_IsTheCallersAndCannotBeForged(t *testing.T) {
	got := make(chan http.Header, 1)
	w := harness.New(t, assistantOf(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	w.As(t, "erna", "acme", auth.ProductionEngineer, auth.OrganizationAdmin).Get(t, "/api/copilot/chat",
		"X-Wavegate-User", "olga", "x-wavegate-roles", "platform_owner", "X_Wavegate_Organization", "rival",
		"X-Wavegate-Admin", "yes", "X-Wavegate-Secret", "guess", "X-Forwarded-For", "192.0.2.1").Is(t, http.StatusOK)
	h := <-got
	want := map[string]string{
		copilot.HeaderUser: "erna", copilot.HeaderOrganization: "acme", copilot.HeaderSecret: secret,
		copilot.HeaderRoles: "organization_admin production_engineer",
	}
	for name, value := range want {
		values := h.Values(name)
		expect.That(t, len(values) == 1 && values[0] == value, "%s is %q, want %q", name, values, value)
	}
	for name := range h {
		if _, mine := want[name]; !mine && strings.Contains(strings.ToLower(name), "wavegate") &&
			name != copilot.HeaderIssuer && name != copilot.HeaderRequestID {
			t.Errorf("%s: %v came through", name, h[name])
		}
	}
	for _, name := range []string{"Authorization", "X-Forwarded-For", "X_wavegate_organization"} {
		expect.Equal(t, h.Get(name), "", "%s came through: %v", name, h.Values(name))
	}
	expect.That(t, h.Get(copilot.HeaderIssuer) != "" && h.Get(copilot.HeaderRequestID) != "", "the headers are %v", h)
}

// TestCopilot_AssistantThatGivesNoAnswer_IsSaid: it is slow, breaks off, is not there, or is not set.
func TestCopilot_AssistantThatGivesNoAnswer_IsSaid(t *testing.T) {
	end := make(chan struct{})
	w := harness.New(t, assistantOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/slow":
			select {
			case <-end:
			case <-r.Context().Done():
			}
		case "/v1/half":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half of it")
		}
		panic(http.ErrAbortHandler)
	}))
	defer close(end)
	gone := harness.New(t, withSettings("COPILOT_URL=http://127.0.0.1:1", "COPILOT_SECRET="+secret))
	for path, code := range map[string]problem.Code{"slow": problem.Timeout, "chat": problem.BadGateway, "half": problem.BadGateway} {
		w.Engineer(t, "acme").Get(t, "/api/copilot/"+path).Refused(t, code)
	}
	gone.Engineer(t, "acme").Get(t, "/api/copilot/chat").Refused(t, problem.BadGateway)
	p := harness.New(t).Engineer(t, "acme").Get(t, "/api/copilot/chat").Refused(t, problem.Unavailable)
	expect.That(t, strings.Contains(p.Detail, "No assistant"), "the detail is %q", p.Detail)
}

// TestCopilot_AnswerThatLambdaWouldNotTake_IsRefusedHere: Lambda counts the answer as a JSON string, in which a text
// can be six times as long.
func TestCopilot_AnswerThatLambdaWouldNotTake_IsRefusedHere(t *testing.T) {
	for name, answer := range map[string]struct {
		body  string
		taken bool
	}{
		"four MiB of plain text":       {strings.Repeat("a", 4<<20), true},
		"more":                         {strings.Repeat("a", 4<<20+1), false},
		"three MB of quotes":           {strings.Repeat(`"`, 3_000_000), false},
		"a little less of them":        {strings.Repeat(`"`, 2_900_000), true},
		"four MiB that are no text":    {strings.Repeat("\xff", 4<<20), true},
		"a million control characters": {strings.Repeat("\x01", 1_000_000), false},
	} {
		w := harness.New(t, assistantOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, answer.body)
		}))
		got := w.Engineer(t, "acme").Get(t, "/api/copilot/long")
		switch {
		case !answer.taken:
			got.Refused(t, problem.BadGateway)
		case got.Status != http.StatusOK || string(got.Body) != answer.body:
			t.Errorf("%s: %d with %d bytes", name, got.Status, len(got.Body))
		}
	}
}
