package lambdahttp

import (
	"net/http"
	"slices"
	"strings"
)

// These are what a page of an allowed origin may send, and how long a browser may cache that, in
// seconds.
const (
	AllowedHeaders = "Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match"
	AllowedMethods = "GET,PUT,POST,PATCH,DELETE"
	PreflightAge   = "3600"
)

// Warning is the header of a success that probably does not do what its caller wants.
const Warning = "Wavegate-Warning"

// exposedHeaders are the headers that such a page may read, besides those that any page may
// read.
const exposedHeaders = "Allow, ETag, Link, Location, RateLimit, RateLimit-Policy, RateLimit-Unchecked, Retry-After, " + Warning

// Origins lists the origins in the setting CORSOrigins. The gateway answers preflight requests
// from the same setting and from these constants.
func Origins(setting string) []string {
	return strings.FieldsFunc(setting, func(c rune) bool { return c == ',' })
}

// share lets a page of an allowed origin read the answer (WHATWG Fetch, "CORS protocol").
// Without allowed origins, it adds nothing.
func share(w http.ResponseWriter, r *http.Request, allowed []string) {
	if len(allowed) == 0 {
		return
	}
	w.Header().Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); slices.Contains(allowed, origin) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
	}
}

// ShareOwn lets a page read an answer that the gateway gives itself. Such an answer has fixed
// headers. They name the allowed origin if there is only one, and any origin if there are
// several. These answers contain no data of a tenant.
func ShareOwn(h http.Header, allowed []string) {
	switch len(allowed) {
	case 0:
		return
	case 1:
		h.Set("Access-Control-Allow-Origin", allowed[0])
		h.Set("Vary", "Origin")
	default:
		h.Set("Access-Control-Allow-Origin", "*")
	}
	var exposed []string
	for _, name := range strings.Split(exposedHeaders, ", ") {
		if _, has := h[http.CanonicalHeaderKey(name)]; has {
			exposed = append(exposed, name)
		}
	}
	if len(exposed) > 0 {
		h.Set("Access-Control-Expose-Headers", strings.Join(exposed, ", "))
	}
}
