package problem

import "time"

// A GatewayResponse is an answer that API Gateway gives by itself, without a function. The stack
// and the local gateway both make theirs from this list, so that a caller sees one error body
// whoever answers.
type GatewayResponse struct {
	// Type is API Gateway's response type.
	Type string
	// Status overrides the gateway's own status; 0 keeps it (the two DEFAULT types stand for
	// several).
	Status int
	Code   Code
	Detail string
	// RetryAfter, when positive, is sent as Retry-After.
	RetryAfter time.Duration
}

// GatewayResponses lists the types whose answer is known. What is not listed falls to DEFAULT_4XX
// or DEFAULT_5XX.
var GatewayResponses = []GatewayResponse{
	// API Gateway answers an unknown route with 403 and this type.
	{Type: "MISSING_AUTHENTICATION_TOKEN", Status: 404, Code: NotFound, Detail: "There is no such resource."},
	{Type: "RESOURCE_NOT_FOUND", Status: 404, Code: NotFound, Detail: "There is no such resource."},
	{Type: "UNAUTHORIZED", Status: 401, Code: Unauthenticated, Detail: unauthenticated},
	// Nothing but a token that can never become good is ever denied.
	{Type: "ACCESS_DENIED", Status: 401, Code: Unauthenticated, Detail: unauthenticated},
	// These four are about AWS's own signatures and API keys, which the service does not use.
	{Type: "EXPIRED_TOKEN", Status: 401, Code: Unauthenticated, Detail: unauthenticated},
	{Type: "INVALID_SIGNATURE", Status: 401, Code: Unauthenticated, Detail: unauthenticated},
	{Type: "INVALID_API_KEY", Status: 401, Code: Unauthenticated, Detail: unauthenticated},
	{Type: "WAF_FILTERED", Status: 403, Code: Forbidden, Detail: "The request was refused before it reached the service."},
	{Type: "BAD_REQUEST_BODY", Status: 400, Code: ValidationFailed, Detail: "The body is not valid."},
	{Type: "BAD_REQUEST_PARAMETERS", Status: 400, Code: ValidationFailed, Detail: "The parameters are not valid."},
	{Type: "REQUEST_TOO_LARGE", Status: 413, Code: BodyTooLarge, Detail: "The body is larger than the gateway takes."},
	{Type: "UNSUPPORTED_MEDIA_TYPE", Status: 415, Code: UnsupportedMediaType, Detail: "The body's media type is not supported."},
	{Type: "THROTTLED", Status: 429, Code: RateLimited, Detail: "The service takes no more calls at the moment.", RetryAfter: time.Second},
	{Type: "QUOTA_EXCEEDED", Status: 429, Code: RateLimited, Detail: "The quota is used up.", RetryAfter: time.Minute},
	{Type: "API_CONFIGURATION_ERROR", Status: 500, Code: Internal, Detail: "The service failed."},
	{Type: "AUTHORIZER_CONFIGURATION_ERROR", Status: 500, Code: Internal, Detail: "The service failed."},
	{Type: "AUTHORIZER_FAILURE", Status: 500, Code: Internal, Detail: "The service failed."},
	// The function crashed, ran into its own timeout or answered nonsense, or Lambda had no room to run it.
	{Type: "INTEGRATION_FAILURE", Status: 502, Code: BadGateway, Detail: failed},
	{Type: "INTEGRATION_TIMEOUT", Status: 504, Code: Timeout, Detail: timedOut},
	// Only the body can be set for these two: setting a status would bend every other answer of
	// the class. Their codes are the class's most general ones.
	{Type: "DEFAULT_4XX", Code: ValidationFailed, Detail: "The gateway refused the request."},
	{Type: "DEFAULT_5XX", Code: BadGateway, Detail: "The service could not be reached."},
}

const (
	unauthenticated = "The request carries no access token that is valid here."
	failed          = "The service gave no answer. If the call was to change something, whether it did is not known; read before trying again."
	timedOut        = "The service took too long to answer. If the call was to change something, whether it did is not known; read before trying again."
)

// GatewayResponseOf returns the answer of a type, or that of DEFAULT_5XX for one that is not listed.
func GatewayResponseOf(kind string) GatewayResponse {
	var fallback GatewayResponse
	for _, g := range GatewayResponses {
		if g.Type == kind {
			return g
		}
		if g.Type == "DEFAULT_5XX" {
			fallback = g
		}
	}
	return fallback
}
