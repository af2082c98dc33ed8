package lambdahttp

import (
	"maps"
	"net/http"
)

// SecurityHeaders are on every answer of the API, including the gateway's own. With them a
// browser does not guess the media type, uses only https, and shows the answer in no frame. The
// gateway's mappings put values between single quotes, so no value may contain one.
func SecurityHeaders() http.Header {
	return http.Header{
		"Strict-Transport-Security": {"max-age=31536000"},
		"X-Content-Type-Options":    {"nosniff"},
		"X-Frame-Options":           {"DENY"},
	}
}

func secure(h http.Header) { maps.Copy(h, SecurityHeaders()) }
