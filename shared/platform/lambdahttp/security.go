package lambdahttp

import (
	"maps"
	"net/http"
)

// SecurityHeaders are on every answer of the API, whoever gives it: a browser takes an answer for what it
// says it is, asks over https alone, and shows it in no frame. The gateway's mappings put values between
// single quotes, so no value holds one.
func SecurityHeaders() http.Header {
	return http.Header{
		"Strict-Transport-Security": {"max-age=31536000"},
		"X-Content-Type-Options":    {"nosniff"},
		"X-Frame-Options":           {"DENY"},
	}
}

// secure puts them on an answer.
func secure(h http.Header) { maps.Copy(h, SecurityHeaders()) }
