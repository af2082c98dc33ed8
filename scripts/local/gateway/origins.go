package gateway

import (
	"net/http"
	"slices"

	"wavegate/shared/platform/lambdahttp"
)

// preflight answers a browser that asks whether a page of the origin may call. To an origin that may
// not, it says all but that it may.
func preflight(allowed []string, origin string) parsedAnswer {
	h := http.Header{
		"Access-Control-Allow-Headers": {lambdahttp.AllowedHeaders},
		"Access-Control-Allow-Methods": {lambdahttp.AllowedMethods},
		"Access-Control-Max-Age":       {lambdahttp.PreflightAge},
		"Vary":                         {"Origin"},
	}
	if slices.Contains(allowed, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
	}
	return parsedAnswer{status: http.StatusNoContent, header: h}
}

// allowOnly lets a page read one of the gateway's own answers. In the stack their headers are fixed, so
// this is possible for one origin.
func allowOnly(allowed []string, h http.Header) {
	if len(allowed) == 1 {
		h.Set("Access-Control-Allow-Origin", allowed[0])
		h.Set("Access-Control-Expose-Headers", lambdahttp.ExposedHeaders)
		h.Set("Vary", "Origin")
	}
}
