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
