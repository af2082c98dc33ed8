package lambdahttp

import (
	"net/http"
	"slices"
	"strings"
)

// What a page of an allowed origin may send, and for how many seconds a browser may keep that in mind.
const (
	AllowedHeaders = "Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match"
	AllowedMethods = "GET,PUT,POST,PATCH,DELETE"
	PreflightAge   = "3600"
)

// ExposedHeaders are the headers that such a page may read, beside those that any page may.
const ExposedHeaders = "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After"

// Origins lists the origins of the setting CORSOrigins. The gateway answers preflight requests from the
// same setting, with what is named here.
func Origins(setting string) []string {
	return strings.FieldsFunc(setting, func(c rune) bool { return c == ',' })
}

// share lets a page of an allowed origin read the answer (WHATWG Fetch, "CORS protocol"). Without
// allowed origins an answer says nothing about any.
func share(w http.ResponseWriter, r *http.Request, allowed []string) {
	if len(allowed) == 0 {
		return
	}
	w.Header().Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); slices.Contains(allowed, origin) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Expose-Headers", ExposedHeaders)
	}
}
