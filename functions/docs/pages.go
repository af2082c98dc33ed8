package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"strconv"
	"time"

	"wavegate/shared/contract"
	"wavegate/shared/platform/lambdahttp"
)

var (
	//go:embed page.html
	page []byte
	// script is what page.html shows the contract with.
	//go:embed page.js
	script []byte
)

// renderer is Redoc, which ./scripts/contract docs puts beside the program.
const renderer = "redoc.js"

// unfetched is what is shown if it was not.
const unfetched = "What shows this page is not there yet. ./scripts/dev fetches it by npm, which comes with Node.js\n" +
	"(https://nodejs.org): load the page again in a minute; .dev/docs.log says what went wrong. For a stack,\n" +
	"run ./scripts/contract docs. The contract itself is at openapi.yaml.\n"

// policy lets the page use what this service serves, and nothing else. Redoc styles what it makes, and
// searches in a worker that it makes itself.
const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; " +
	"img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages answers operations.DocsPaths for an API whose base URL is given. The pages refer to each other
// relatively, so that they work below whatever path the API has. missing answers every other path.
func pages(files fs.FS, base string, missing http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", missing)
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, r *http.Request) {
		write(w, r, "application/yaml", asked, document(base)) // RFC 9512
	})
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		if _, err := fs.Stat(files, renderer); err != nil {
			write(w, r, "text/plain; charset=utf-8", asked, []byte(unfetched))
			return
		}
		write(w, r, "text/html; charset=utf-8", asked, page)
	})
	mux.HandleFunc("GET /docs/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "../docs")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	mux.HandleFunc("GET /docs/page.js", func(w http.ResponseWriter, r *http.Request) {
		write(w, r, "text/javascript; charset=utf-8", asked, script)
	})
	mux.HandleFunc("GET /docs/"+renderer, func(w http.ResponseWriter, r *http.Request) {
		program, err := fs.ReadFile(files, renderer)
		if err != nil {
			missing(w, r)
			return
		}
		write(w, r, "text/javascript; charset=utf-8", daily, program)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), lambdahttp.SecurityHeaders())
		mux.ServeHTTP(w, r)
	})
}

// How long a browser may keep what it was given: the contract and its page are asked about each time, and
// the renderer, which is large and changes with a release of its own at most, once a day.
const (
	asked = "no-cache"
	daily = "public, max-age=86400"
)

// write answers with a body, or with 304 to a caller who has it.
func write(w http.ResponseWriter, r *http.Request, mediaType, keep string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", keep)
	// Weak, since the same tag stands for the compressed bytes and the others.
	h.Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(body)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// servers begins the contract's list of where the API lies.
var servers = []byte("\nservers:\n")

// document is the contract with the API it was asked of as the first server, so that a client made
// from it calls just that.
func document(base string) []byte {
	first := fmt.Appendf(nil, "%s  - url: %s\n    description: Where this contract was asked for\n", servers, strconv.Quote(base))
	return bytes.Replace(contract.Document, servers, first, 1)
}
