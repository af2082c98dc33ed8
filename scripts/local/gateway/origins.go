package gateway

import (
	"net/http"
	"slices"

	"wavegate/shared/platform/lambdahttp"
)

// preflight answers a browser that asks whether a page of the origin may call. To an origin that may
// not, it says all but that it may.
func preflight(allowed []string, origin string) parsedAnswer {
	h := lambdahttp.SecurityHeaders()
	h.Set("Access-Control-Allow-Headers", lambdahttp.AllowedHeaders)
	h.Set("Access-Control-Allow-Methods", lambdahttp.AllowedMethods)
	h.Set("Access-Control-Max-Age", lambdahttp.PreflightAge)
	h.Set("Vary", "Origin")
	if slices.Contains(allowed, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
	}
	return parsedAnswer{status: http.StatusNoContent, header: h}
}
