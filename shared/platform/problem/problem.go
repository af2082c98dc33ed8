// Package problem has the one error type that a caller may see, and the one place that turns any
// error into a problem document (RFC 9457).
//
// An error with a Code is safe to show. Every other error is internal. The log has its text, and
// the caller sees only INTERNAL, so no internal cause leaves the service.
package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Code names one kind of failure. Codes are part of the contract, and their meaning never
// changes.
type Code string

// Codes, grouped by status.
const (
	InvalidJSON      Code = "INVALID_JSON"
	ValidationFailed Code = "VALIDATION_FAILED"
	InvalidCursor    Code = "INVALID_CURSOR"
	OffsetTooLarge   Code = "OFFSET_TOO_LARGE"
	Unauthenticated  Code = "UNAUTHENTICATED"
	// SignInAgain: the caller signed in too long ago for a signature.
	SignInAgain            Code = "SIGN_IN_AGAIN"
	Forbidden              Code = "FORBIDDEN"
	NotFound               Code = "NOT_FOUND"
	MethodNotAllowed       Code = "METHOD_NOT_ALLOWED"
	InvalidStateTransition Code = "INVALID_STATE_TRANSITION"
	RolloutActive          Code = "ROLLOUT_ACTIVE"
	Frozen                 Code = "FROZEN"
	WindowClosed           Code = "WINDOW_CLOSED"
	ApprovalRequired       Code = "APPROVAL_REQUIRED"
	SelfApproval           Code = "SELF_APPROVAL"
	ReleaseImmutable       Code = "RELEASE_IMMUTABLE"
	VersionFrozen          Code = "VERSION_FROZEN"
	VersionOpen            Code = "VERSION_OPEN"
	ContentChanged         Code = "CONTENT_CHANGED"
	EffectivityFull        Code = "EFFECTIVITY_FULL"
	MethodIncomplete       Code = "METHOD_INCOMPLETE"
	TrialSplitsRoute       Code = "TRIAL_SPLITS_ROUTE"
	ReachesNothing         Code = "REACHES_NOTHING"
	Conflict               Code = "CONFLICT"
	PreconditionFailed     Code = "PRECONDITION_FAILED"
	BodyTooLarge           Code = "BODY_TOO_LARGE"
	UnsupportedMediaType   Code = "UNSUPPORTED_MEDIA_TYPE"
	ReleaseNotPublished    Code = "RELEASE_NOT_PUBLISHED"
	IdempotencyKeyReused   Code = "IDEMPOTENCY_KEY_REUSED"
	// FactoryNotInOrganization: the factory for a box belongs to another organization.
	FactoryNotInOrganization Code = "FACTORY_NOT_IN_ORGANIZATION"
	// EdgeNotInOrganization: the box for a machine belongs to another organization.
	EdgeNotInOrganization Code = "EDGE_NOT_IN_ORGANIZATION"
	// EdgeEnrolled: a box redeems an id that another box has.
	EdgeEnrolled Code = "EDGE_ENROLLED"
	// VersionWithdrawn: a machine reports a version that was withdrawn.
	VersionWithdrawn Code = "VERSION_WITHDRAWN"
	// ReportStale: the report is about another version than the box was offered.
	ReportStale Code = "REPORT_STALE"
	// EdgeNotReported: a box has never said what it runs, and is to be pinned to that.
	EdgeNotReported Code = "EDGE_NOT_REPORTED"
	// DowngradeRefused: a pin would send a box to a lower order than what it runs.
	DowngradeRefused Code = "DOWNGRADE_REFUSED"
	// RequiresCycle: a release would require itself, or too many others.
	RequiresCycle Code = "REQUIRES_CYCLE"
	// ArtifactNotKept: the bytes of a digest are not in the service's store.
	ArtifactNotKept Code = "ARTIFACT_NOT_KEPT"
	// ArtifactInUse: boxes may be told a release with the artifact.
	ArtifactInUse Code = "ARTIFACT_IN_USE"

	RateLimited Code = "RATE_LIMITED"
	Internal    Code = "INTERNAL"
	BadGateway  Code = "BAD_GATEWAY"
	Unavailable Code = "UNAVAILABLE"
	Timeout     Code = "TIMEOUT"
)

// A Class is what all failures with one code have in common.
type Class struct {
	Code   Code
	Status int
	Title  string
}

// Classes lists every code of the service, in order of status.
var Classes = []Class{
	{InvalidJSON, http.StatusBadRequest, "The body is not valid JSON"},
	{ValidationFailed, http.StatusBadRequest, "The request is not valid"},
	{InvalidCursor, http.StatusBadRequest, "The cursor is not valid for this query"},
	{OffsetTooLarge, http.StatusBadRequest, "The offset is too large"},
	{Unauthenticated, http.StatusUnauthorized, "A valid access token is required"},
	{SignInAgain, http.StatusUnauthorized, "The person must sign in again"},
	{Forbidden, http.StatusForbidden, "The caller is not allowed to do this"},
	{SelfApproval, http.StatusForbidden, "Someone else has to approve this"},
	{NotFound, http.StatusNotFound, "There is no such resource"},
	{MethodNotAllowed, http.StatusMethodNotAllowed, "The resource has no such method"},
	{InvalidStateTransition, http.StatusConflict, "The resource cannot make this move"},
	{RolloutActive, http.StatusConflict, "A rollout is already active on this channel"},
	{Frozen, http.StatusConflict, "Rollouts are frozen"},
	{WindowClosed, http.StatusConflict, "No window for promotions is open"},
	{ApprovalRequired, http.StatusConflict, "The stage needs an approval"},
	{ReleaseImmutable, http.StatusConflict, "The version was published with another digest"},
	{VersionFrozen, http.StatusConflict, "The version can no longer be saved"},
	{VersionOpen, http.StatusConflict, "Another version is still open"},
	{ContentChanged, http.StatusConflict, "The content is not the one named in the request"},
	{EffectivityFull, http.StatusConflict, "The method has no room for another decision"},
	{Conflict, http.StatusConflict, "The resource is in conflict with the request"},
	{VersionWithdrawn, http.StatusConflict, "The version was withdrawn"},
	{EdgeEnrolled, http.StatusConflict, "The box is registered already"},
	{ReportStale, http.StatusConflict, "The report is about another version than the box was offered"},
	{EdgeNotReported, http.StatusConflict, "The box has not said what it runs"},
	{DowngradeRefused, http.StatusConflict, "The box runs a newer release"},
	{ArtifactInUse, http.StatusConflict, "Boxes may be told the artifact"},
	{RequiresCycle, http.StatusConflict, "The version would require itself, or too many others"},
	{PreconditionFailed, http.StatusPreconditionFailed, "The precondition does not hold"},
	{BodyTooLarge, http.StatusRequestEntityTooLarge, "The body is too large"},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType, "The body must be JSON"},
	{ReleaseNotPublished, http.StatusUnprocessableEntity, "The version was never published"},
	{ArtifactNotKept, http.StatusUnprocessableEntity, "The service does not keep these bytes"},
	{FactoryNotInOrganization, http.StatusUnprocessableEntity, "The factory does not belong to the organization"},
	{EdgeNotInOrganization, http.StatusUnprocessableEntity, "The box does not belong to the organization"},
	{MethodIncomplete, http.StatusUnprocessableEntity, "The version is not complete"},
	{TrialSplitsRoute, http.StatusUnprocessableEntity, "The trial omits steps"},
	{ReachesNothing, http.StatusUnprocessableEntity, "No machine would run the version"},
	{IdempotencyKeyReused, http.StatusUnprocessableEntity, "The idempotency key belongs to another request"},
	{RateLimited, http.StatusTooManyRequests, "The fair-use limit is reached"},
	{Internal, http.StatusInternalServerError, "The service failed"},
	{BadGateway, http.StatusBadGateway, "The service could not be reached"},
	{Unavailable, http.StatusServiceUnavailable, "The service is not available at the moment"},
	{Timeout, http.StatusGatewayTimeout, "The service took too long"},
}

// ClassOf returns the class of a code. An unknown code is Internal, so that a mistake in the code
// is a failure and not a success.
func ClassOf(code Code) Class {
	for _, k := range Classes {
		if k.Code == code {
			return k
		}
	}
	return ClassOf(Internal)
}

// Type is the problem type of the code, for example urn:wavegate:problem:rollout-active.
func (c Code) Type() string {
	return "urn:wavegate:problem:" + strings.ReplaceAll(strings.ToLower(string(c)), "_", "-")
}

// A Fault is one fault of a request. It is in a Parameter (of path, query or header), or in the
// body at Pointer (RFC 6901). An empty Pointer is the whole body.
type Fault struct {
	Pointer   string
	Parameter string
	Code      string
	Detail    string
}

// MarshalJSON writes either pointer or parameter. The empty pointer means the whole body.
func (f Fault) MarshalJSON() ([]byte, error) {
	if f.Parameter != "" {
		return json.Marshal(struct {
			Parameter string `json:"parameter"`
			Code      string `json:"code"`
			Detail    string `json:"detail"`
		}{f.Parameter, f.Code, f.Detail})
	}
	return json.Marshal(struct {
		Pointer string `json:"pointer"`
		Code    string `json:"code"`
		Detail  string `json:"detail"`
	}{f.Pointer, f.Code, f.Detail})
}

// An Error is a failure that a caller may see.
type Error struct {
	Code   Code
	Detail string
	Faults []Fault
	// RetryAfter, if positive, is sent as Retry-After in whole seconds, rounded up.
	RetryAfter time.Duration
	// Policies names the fair-use policies that were exceeded.
	Policies []string
	// Orders says what to do with orders under way, for VERSION_WITHDRAWN.
	Orders string
	// Allow lists the methods of a resource, for METHOD_NOT_ALLOWED.
	Allow []string
	// MaxAge is how long ago the person may have signed in, for SIGN_IN_AGAIN.
	MaxAge time.Duration
	cause  error
}

// New makes an error that is safe to show. The detail is for the caller.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Wrap is New with an internal cause, which is logged and never sent.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.cause = cause
	return e
}

// Invalid reports all faults of a request at once.
func Invalid(faults []Fault) *Error {
	e := New(ValidationFailed, "%d of the request's values are not valid; see errors.", len(faults))
	if len(faults) == 1 {
		e.Detail = "One of the request's values is not valid; see errors."
	}
	e.Faults = faults
	return e
}

// Missing is the answer for a resource that does not exist, and for one that the caller may not
// see. The two answers must be equal byte for byte.
func Missing() *Error { return New(NotFound, "There is no such resource.") }

// After sets the time that the caller should wait before a retry.
func (e *Error) After(d time.Duration) *Error { e.RetryAfter = d; return e }

// longestWait is the longest Retry-After that the service promises.
const longestWait = 121 * time.Second

// Daily returns RATE_LIMITED for something of which a policy allows so much a day, until midnight UTC.
func Daily(now time.Time, policy, format string, args ...any) *Error {
	e := New(RateLimited, format, args...)
	e.RetryAfter, e.Policies = min(now.Truncate(24*time.Hour).Add(24*time.Hour).Sub(now), longestWait), []string{policy}
	return e
}

// Allowing sets the methods of the resource.
func (e *Error) Allowing(methods []string) *Error { e.Allow = methods; return e }

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Detail
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.cause }

// Has reports whether err is a failure of the given code.
func Has(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// From returns err as an Error. An error without a code becomes INTERNAL, with err as its cause.
func From(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Wrap(err, Internal, "The request could not be answered because of a fault in the service. The request id identifies it in the log.")
}

// Document is the body of application/problem+json, RFC 9457.
type Document struct {
	Type      string   `json:"type"`
	Title     string   `json:"title"`
	Status    int      `json:"status"`
	Detail    string   `json:"detail"`
	Instance  string   `json:"instance,omitempty"`
	Code      Code     `json:"code"`
	RequestID string   `json:"requestId"`
	Errors    []Fault  `json:"errors,omitempty"`
	Policies  []string `json:"policies,omitempty"`
	Orders    string   `json:"orders,omitempty"`
}

// ContentType is the media type of a Document.
const ContentType = "application/problem+json"

// These bound a document: at most MaxFaults faults and MaxDocument bytes.
const (
	MaxFaults   = 100
	MaxDocument = 16 << 10
)

// maxText bounds a text from the caller that a document repeats, such as a field's name, in
// bytes.
const maxText = 256

// Document returns the error's body. instance is the request's path. Faults beyond the bounds are omitted, and the
// detail says how many.
func (e *Error) Document(instance, requestID string) Document {
	k := ClassOf(e.Code)
	d := Document{
		Type: e.Code.Type(), Title: k.Title, Status: k.Status, Detail: e.Detail,
		Instance: cut(instance, 2048), Code: e.Code, RequestID: requestID, Policies: e.Policies, Orders: e.Orders,
	}
	room := MaxDocument - 6*len(d.Instance) - 2048
	for _, f := range e.Faults[:min(len(e.Faults), MaxFaults)] {
		f.Pointer, f.Parameter, f.Detail = cut(f.Pointer, maxText), cut(f.Parameter, maxText), cut(f.Detail, 2*maxText)
		text, err := json.Marshal(f)
		if room -= len(text) + 1; err != nil || room < 0 {
			break
		}
		d.Errors = append(d.Errors, f)
	}
	if left := len(e.Faults) - len(d.Errors); left > 0 {
		d.Detail += fmt.Sprintf(" %d more faults are not listed.", left)
	}
	return d
}

// cut shortens a text to at most n bytes of whole characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "…"
	for n -= len(mark); n > 0 && !utf8.RuneStart(text[n]); n-- {
	}
	return text[:n] + mark
}

// Header gives the headers that belong to the error.
func (e *Error) Header() http.Header {
	h := http.Header{"Content-Type": {ContentType}, "Cache-Control": {"no-store"}}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	if len(e.Allow) > 0 {
		h.Set("Allow", strings.Join(e.Allow, ", "))
	}
	if e.Code == Unauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.Code == SignInAgain { // RFC 9470
		h.Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_user_authentication", error_description="A signature needs a more recent sign-in", max_age="%d"`,
			int(e.MaxAge/time.Second)))
	}
	return h
}
