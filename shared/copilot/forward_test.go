package copilot

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"wavegate/shared/access/auth"
)

// answer is the head of what a caller gets, who would get Vary: Origin from this service.
func answer(t *testing.T, upstream http.HandlerFunc) http.Header {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	serve, err := New(Settings{URL: address, Timeout: 10 * time.Second}).Forward(request, "chat", auth.Principal{}, "r")
	if err != nil {
		t.Fatal(err)
	}
	w := core.NewProxyResponseWriter()
	w.Header().Set("Vary", "Origin")
	serve(w, request)
	return w.Header()
}

// TestForward_UpstreamsVary_JoinsThisServices: without Origin in it, a cache would give the answer to one
// origin to pages of another.
func TestForward_UpstreamsVary_JoinsThisServices(t *testing.T) {
	h := answer(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Vary", "Accept-Language") })
	if got := strings.Join(h.Values("Vary"), ", "); got != "Origin, Accept-Language" {
		t.Errorf("Vary is %q", got)
	}
}

func TestForward_EmptyAnswer_HasNoContentType(t *testing.T) {
	h := answer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	if got := h.Values("Content-Type"); len(got) > 0 {
		t.Errorf("Content-Type is %q", got)
	}
}
