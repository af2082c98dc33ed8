package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"strconv"

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

// renderer is Redoc. ./scripts/contract docs puts it beside the program.
const renderer = "redoc.js"

// unfetched is shown if it is missing.
const unfetched = "The renderer of this page is not there yet. ./scripts/dev fetches it with npm, which is part of Node.js\n" +
	"(https://nodejs.org). Load the page again in a minute; if it is still missing, see .dev/docs.log. For a stack,\n" +
	"run ./scripts/contract docs. The contract itself is at openapi.yaml.\n"

// policy lets the page use only what this service serves. Redoc adds inline styles, and searches in a worker that it
// makes itself.
const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; " +
	"img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages answers operations.DocsPaths for an API with the given base URL. The pages' links to each other are relative,
// so that they work below any path. missing answers every other path.
func pages(files fs.FS, base string, missing http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", missing)
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, r *http.Request) {
		lambdahttp.WriteFile(w, r, "application/yaml", asked, document(base)) // RFC 9512
	})
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		if _, err := fs.Stat(files, renderer); err != nil {
			lambdahttp.WriteFile(w, r, "text/plain; charset=utf-8", asked, []byte(unfetched))
			return
		}
		lambdahttp.WriteFile(w, r, "text/html; charset=utf-8", asked, page)
	})
	mux.HandleFunc("GET /docs/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "../docs")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	mux.HandleFunc("GET /docs/page.js", func(w http.ResponseWriter, r *http.Request) {
		lambdahttp.WriteFile(w, r, "text/javascript; charset=utf-8", asked, script)
	})
	mux.HandleFunc("GET /docs/"+renderer, func(w http.ResponseWriter, r *http.Request) {
		program, err := fs.ReadFile(files, renderer)
		if err != nil {
			missing(w, r)
			return
		}
		lambdahttp.WriteFile(w, r, "text/javascript; charset=utf-8", daily, program)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, lambdahttp.SecurityHeaders())
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		mux.ServeHTTP(w, r)
	})
}

// How long a browser may keep what it was given. It asks for the contract and its page every time. It keeps the
// renderer, which is large and rarely changes, for a day.
const (
	asked = "no-cache"
	daily = "public, max-age=86400"
)

// servers is the start of the contract's list of the API's URLs.
var servers = []byte("\nservers:\n")

// document is the contract with the URL at which it was requested as the first server, so that a client made from it
// calls that API.
func document(base string) []byte {
	first := fmt.Appendf(nil, "%s  - url: %s\n    description: The API that served this contract\n", servers, strconv.Quote(base))
	return bytes.Replace(contract.Document, servers, first, 1)
}
