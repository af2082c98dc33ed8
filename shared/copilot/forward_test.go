package copilot

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/testing/expect"
)

// answer returns the headers that a caller gets. Without the assistant, they would contain only this service's Vary: Origin.
func answer(t *testing.T, upstream http.HandlerFunc) http.Header {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	address := expect.Value(url.Parse(server.URL))(t)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	serve, err := New(Settings{URL: address, Secret: "s", Timeout: 10 * time.Second}, nil, time.Now).Forward(request, "chat", auth.Principal{}, "r")
	expect.OK(t, err)
	got := expect.Value(lambdahttp.Proxy(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Vary", "Origin")
		serve(w, request)
	}))(t.Context(), events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: "/"}))(t)
	return got.MultiValueHeaders
}

// TestForward_HeadersOfTheAssistant_OnlyTheAllowedPass: the API's origin is also the page's. There, most headers would
// change what a browser keeps, loads or sends.
func TestForward_HeadersOfTheAssistant_OnlyTheAllowedPass(t *testing.T) {
	passes := map[string]string{
		"Allow": "GET, POST", "Content-Disposition": "attachment", "Content-Encoding": "gzip", "Content-Language": "de",
		"Content-Type": "text/plain", "Etag": `"7"`, "Retry-After": "9",
	}
	stays := []string{
		"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Alt-Svc", "Clear-Site-Data", "Content-Security-Policy", "Link",
		"Location", "Nel", "Ratelimit", "RateLimit-Unchecked", "Refresh", "Report-To", "Reporting-Endpoints", "Service-Worker-Allowed",
		"Set-Cookie", "Set-Login", "SourceMap", "Strict-Transport-Security", "Www-Authenticate", "X-Frame-Options", "X-Unknown", HeaderSecret,
	}
	h := answer(t, func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range passes {
			w.Header().Set(name, value)
		}
		for _, name := range stays {
			w.Header()[name] = []string{"the assistant's"}
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000")
		w.Header().Set("Vary", "Accept-Language")
		_, _ = io.WriteString(w, "{}")
	})
	for name, want := range passes {
		got := h.Values(name)
		expect.That(t, len(got) == 1 && got[0] == want, "%s is %q, want %q", name, got, want)
	}
	for _, name := range stays {
		got := h.Values(name)
		expect.That(t, len(got) == 0, "%s is %q", name, got)
	}
	// Without Origin, a cache would give one origin's answer to the pages of another.
	if cache, vary := h.Values("Cache-Control"), h.Values("Vary"); len(cache) != 1 || cache[0] != "no-store" || len(vary) != 1 || vary[0] != "Origin" {
		t.Errorf("Cache-Control is %q, Vary is %q", cache, vary)
	}
}

func TestForward_EmptyAnswer_HasNoContentType(t *testing.T) {
	h := answer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	got := h.Values("Content-Type")
	expect.That(t, len(got) == 0, "Content-Type is %q", got)
}

// TestForward_KeptConnectionBroke_IsNoFailure has the assistant answer once on each connection and close it when the
// next request arrives, like one that closed it while the container was frozen.
func TestForward_KeptConnectionBroke_IsNoFailure(t *testing.T) {
	listener := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	var mu sync.Mutex
	answered := map[string]int{}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				mu.Lock()
				answered[r.Method]++
				mu.Unlock()
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
				_, _ = in.ReadByte()
			}()
		}
	}()
	address := expect.Value(url.Parse("http://" + listener.Addr().String()))(t)
	f := New(Settings{URL: address, Secret: "s", Timeout: 10 * time.Second}, nil, time.Now)
	for range 3 {
		for _, method := range Methods {
			r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader("{}"))
			if method == http.MethodGet {
				r.Body, r.ContentLength = http.NoBody, 0
			}
			_, err := f.Forward(r, "chat", auth.Principal{}, "r")
			expect.That(t, err == nil, "%s: %v", method, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, method := range Methods {
		expect.That(t, answered[method] == 3, "%d of 3 requests by %s were answered", answered[method], method)
	}
}
