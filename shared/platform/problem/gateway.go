package problem

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// A GatewayResponse is an answer that API Gateway gives without calling a function. The stack
// and the local gateway both use this list, so that all errors have the same form.
type GatewayResponse struct {
	// Type is API Gateway's response type.
	Type string
	// Status replaces the gateway's own status; 0 keeps it. The two DEFAULT types have several
	// statuses.
	Status int
	Code   Code
	Detail string
	// RetryAfter, if positive, is sent as Retry-After.
	RetryAfter time.Duration
	// SpreadRetry sends the Retry-After from the authorizer, which differs between callers. So
	// callers that were refused together do not retry together.
	SpreadRetry bool
	// Allow lists the methods of a path, if another one was asked for.
	Allow []string
}

// Document returns the answer's body. If Status is 0, the body has the status of the code.
func (g GatewayResponse) Document(instance, requestID string) Document {
	d := New(g.Code, "%s", g.Detail).Document(instance, requestID)
	if g.Status != 0 {
		d.Status = g.Status
	}
	return d
}

// Header returns the headers that belong to the answer.
func (g GatewayResponse) Header() http.Header {
	h := New(g.Code, "%s", g.Detail).After(g.RetryAfter).Header()
	if len(g.Allow) > 0 {
		h.Set("Allow", strings.Join(g.Allow, ", "))
	}
	return h
}

// MethodNotAllowedResponse is the answer to a method that a path does not have. allow lists the
// methods that it has. API Gateway has no such answer, so the stack adds a method to each path
// for it.
func MethodNotAllowedResponse(allow []string) GatewayResponse {
	allow = slices.Sorted(slices.Values(allow))
	return GatewayResponse{
		Status: http.StatusMethodNotAllowed, Code: MethodNotAllowed, Allow: allow,
		Detail: "The resource has no such method; the header Allow lists those that it has.",
	}
}

// GatewayResponses lists the types with their own answers. All others use DEFAULT_4XX or
// DEFAULT_5XX.
var GatewayResponses = []GatewayResponse{
	// API Gateway answers an unknown route with 403 and this type.
	{Type: "MISSING_AUTHENTICATION_TOKEN", Status: 404, Code: NotFound, Detail: "There is no such resource."},
	{Type: "RESOURCE_NOT_FOUND", Status: 404, Code: NotFound, Detail: "There is no such resource."},
	{Type: "UNAUTHORIZED", Status: 401, Code: Unauthenticated, Detail: NoValidToken},
	// The authorizer denies only tokens that can never become valid.
	{Type: "ACCESS_DENIED", Status: 401, Code: Unauthenticated, Detail: NoValidToken},
	// These four are for AWS signatures and API keys, which the service does not use.
	{Type: "EXPIRED_TOKEN", Status: 401, Code: Unauthenticated, Detail: NoValidToken},
	{Type: "INVALID_SIGNATURE", Status: 401, Code: Unauthenticated, Detail: NoValidToken},
	{Type: "INVALID_API_KEY", Status: 401, Code: Unauthenticated, Detail: NoValidToken},
	{Type: "WAF_FILTERED", Status: 403, Code: Forbidden, Detail: "The request was refused before it reached the service."},
	{Type: "BAD_REQUEST_BODY", Status: 400, Code: ValidationFailed, Detail: "The body is not valid."},
	{Type: "BAD_REQUEST_PARAMETERS", Status: 400, Code: ValidationFailed, Detail: "The parameters are not valid."},
	{Type: "REQUEST_TOO_LARGE", Status: 413, Code: BodyTooLarge, Detail: "The body is larger than the gateway accepts."},
	{Type: "UNSUPPORTED_MEDIA_TYPE", Status: 415, Code: UnsupportedMediaType, Detail: "The body's media type is not supported."},
	{Type: "THROTTLED", Status: 429, Code: RateLimited, Detail: "The service accepts no more calls at the moment.", SpreadRetry: true},
	{Type: "QUOTA_EXCEEDED", Status: 429, Code: RateLimited, Detail: "The quota is used up.", RetryAfter: time.Minute},
	{Type: "API_CONFIGURATION_ERROR", Status: 500, Code: Internal, Detail: "The service failed."},
	{Type: "AUTHORIZER_CONFIGURATION_ERROR", Status: 500, Code: Internal, Detail: "The service failed."},
	// The store or an issuer's keys did not answer, or the authorizer failed: nobody knows whether the token is valid.
	{Type: "AUTHORIZER_FAILURE", Status: 503, Code: Unavailable, Detail: "The token cannot be checked at the moment.", RetryAfter: 5 * time.Second},
	// The function crashed, timed out or gave an invalid answer, or Lambda could not run it.
	{Type: "INTEGRATION_FAILURE", Status: 502, Code: BadGateway, Detail: failed},
	{Type: "INTEGRATION_TIMEOUT", Status: 504, Code: Timeout, Detail: timedOut},
	// For these two only the body can be set. A status would change every other answer of the
	// class. Their codes are the most general ones of the class.
	{Type: "DEFAULT_4XX", Code: ValidationFailed, Detail: "The gateway refused the request."},
	{Type: "DEFAULT_5XX", Code: BadGateway, Detail: "The service could not be reached."},
}

// NoValidToken is the answer to a call with a token that is not valid, whoever finds that.
const NoValidToken = "The request has no valid access token."

const (
	failed   = "The service did not answer. A change may or may not have been made; read before trying again."
	timedOut = "The service took too long to answer. A change may or may not have been made; read before trying again."
)

// GatewayResponseOf returns the answer of a type. For a type that is not listed, it is the
// answer of DEFAULT_5XX.
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
