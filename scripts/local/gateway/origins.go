package gateway

import (
	"net/http"
	"slices"

	"wavegate/shared/platform/lambdahttp"
)

// preflight answers a browser that asks whether a page of the origin may call. For an origin
// that is not allowed, the answer does not contain the header with the origin.
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
