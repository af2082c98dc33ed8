// Package docs serves the contract and the page that shows it. The page loads nothing from any other
// host: its renderer, Redoc, is fetched once by ./scripts/contract docs.
package docs

import (
	_ "embed"
	"net/http"
	"os"

	"wavegate/shared/contract"
)

//go:embed page.html
var page []byte

// missing is what is shown where the renderer was not fetched.
const missing = "This page is not made ready. Run ./scripts/contract docs once (it needs Node.js) and load it again.\n" +
	"The contract itself is at /openapi.yaml.\n"

// policy lets the page use what this service serves, and nothing else. Redoc styles what it makes, and
// searches in a worker that it makes itself.
const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; " +
	"img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Renderer is where ./scripts/contract docs puts the renderer, seen from the repository.
const Renderer = ".dev/docs/redoc.js"

// Pages are the pages by their paths. renderer is the file of the renderer; it may come to be later.
func Pages(renderer string) map[string]http.Handler {
	return map[string]http.Handler{
		"/openapi.yaml": fixed("application/yaml", contract.Document), // RFC 9512
		"/docs":         shown(renderer),
		"/docs/redoc.js": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFile(w, r, renderer)
		}),
	}
}

func fixed(mediaType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", mediaType)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(body) // a reader that has left is no concern of ours
	})
}

func shown(renderer string) http.Handler {
	ready, notReady := fixed("text/html; charset=utf-8", page), fixed("text/plain; charset=utf-8", []byte(missing))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := os.Stat(renderer); err == nil {
			ready.ServeHTTP(w, r)
			return
		}
		notReady.ServeHTTP(w, r)
	})
}
