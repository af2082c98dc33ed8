package lambdahttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestWriteFile_IsCompressed_ForThoseWhoTakeIt: and not for those who ask for a part, or if it is small.
func TestWriteFile_IsCompressed_ForThoseWhoTakeIt(t *testing.T) {
	for accepts, want := range map[string]string{
		"": "", "br": "", "gzip": "gzip", "deflate, GZIP;q=0.5, br": "gzip", "gzip; q=0": "", "gzip;q=0.000": "", "*": "", "x-gzip": "",
	} {
		expect.Equal(t, written(strings.Repeat("a", small), "Accept-Encoding", accepts).Header.Get("Content-Encoding"), want, "%q is answered with", accepts)
	}
	expect.Equal(t, written("a", "Accept-Encoding", "gzip").Header.Get("Content-Encoding"), "", "a short body is")
	part := written(strings.Repeat("a", small), "Accept-Encoding", "gzip", "Range", "bytes=0-9")
	expect.Equal(t, []any{part.StatusCode, part.ContentLength, part.Header.Get("Content-Encoding")}, []any{http.StatusPartialContent, int64(10), ""}, "a part is")
}

// written is the answer to a call with headers.
func written(body string, headers ...string) *http.Response {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	WriteFile(w, r, "text/plain", "no-cache", []byte(body))
	return w.Result()
}
