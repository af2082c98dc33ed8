// Package input reads what callers send: path, query and header parameters and a strict JSON body.
// It collects all faults and reports them together, so that a caller can fix a request in one step.
// A fault in a body has the JSON pointer of its place (RFC 6901).
//
// Text, Integer and the rules made of them say which values are valid. Rules that only one package
// needs are in that package.
//
// JSON is read more strictly than by encoding/json, also for tokens and key sets. Invalid UTF-8, half
// of a surrogate pair, a second value after the first, and very deep nesting are refused and not
// repaired. Names keep their case, and a duplicate name is reported twice.
package input

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/platform/problem"
)

// MaxBody is the largest body in bytes, unless the operation's row sets another bound.
const MaxBody = 16 << 10

// A Reader reads a request. Read every value, then call Err. The values may only
// be used if Err returns nil.
type Reader struct {
	r      *http.Request
	faults Faults
	body   *Object
	fatal  *problem.Error // a body that cannot be read
	query  url.Values
	known  []string
	most   int64 // the largest body, in bytes
}

// Of starts reading a request.
func Of(r *http.Request) *Reader {
	in := &Reader{r: r, most: MaxBody}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		in.parameter("query", "format", "must be a percent-encoded query string")
	}
	in.query = query
	return in
}

// BoundBody sets the largest body, in bytes, instead of MaxBody.
func (in *Reader) BoundBody(most int) { in.most = int64(most) }

func (in *Reader) parameter(name, code, detail string) {
	in.faults.Add(problem.Fault{Parameter: name, Code: code, Detail: detail})
}

// Err reports all faults at once: faults of the values that were read, and every query parameter
// and body field that was not read.
func (in *Reader) Err() error {
	all := in.faults.Copy()
	unknown := make([]string, 0, len(in.query))
	for name := range in.query {
		if !slices.Contains(in.known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		all.Add(problem.Fault{Parameter: name, Code: "unknown", Detail: "is not a parameter of this operation"})
	}
	if in.fatal != nil {
		in.fatal.Faults = append(all.List(), in.fatal.Faults...)
		return in.fatal
	}
	if in.body != nil {
		in.body.Unread(&all)
	}
	faults := all.List()
	if len(faults) == 0 {
		return nil
	}
	return problem.Invalid(faults)
}

// Path returns a path parameter.
func (in *Reader) Path(name string, rule *Text) string {
	raw := in.r.PathValue(name)
	// API Gateway passes path parameters on as the caller encoded them.
	value, err := url.PathUnescape(raw)
	if err != nil {
		in.parameter(name, "format", "must be "+rule.Says)
		return ""
	}
	return in.apply(name, value, rule)
}

func (in *Reader) apply(parameter, raw string, rule *Text) string {
	kept, code, detail := rule.Apply(raw)
	if code != "" {
		in.parameter(parameter, code, detail)
	}
	return kept
}

// Query returns an optional query parameter, which may be given once.
func (in *Reader) Query(name string, rule *Text) (value string, given bool) {
	raw, given := in.queryOnce(name)
	if !given {
		return "", false
	}
	return in.apply(name, raw, rule), true
}

// RequiredQuery returns a query parameter that must be given, once.
func (in *Reader) RequiredQuery(name string, rule *Text) string {
	value, given := in.Query(name, rule)
	if !given {
		in.parameter(name, "required", "is required")
	}
	return value
}

// QueryInteger returns an optional whole number between least and most, or the default fallback.
func (in *Reader) QueryInteger(name string, least, most, fallback int) int {
	raw, given := in.queryOnce(name)
	if !given {
		return fallback
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < least || n > most || raw != strconv.Itoa(n) {
		in.parameter(name, "range", "must be a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
		return fallback
	}
	return n
}

func (in *Reader) queryOnce(name string) (string, bool) {
	in.known = append(in.known, name)
	values, given := in.query[name]
	if len(values) > 1 {
		in.parameter(name, "duplicate", "must be given once")
		return "", false
	}
	if !given {
		return "", false
	}
	return values[0], true
}

// Fault adds a fault of a parameter that no rule of a single value can find.
func (in *Reader) Fault(parameter, code, detail string) { in.parameter(parameter, code, detail) }

// Refuse makes p the request's problem instead of VALIDATION_FAILED. The other faults are still
// reported in it. A body that cannot be read stays the problem.
func (in *Reader) Refuse(p *problem.Error) {
	if in.fatal == nil {
		in.fatal = p
	}
}

// IdempotencyKey returns the caller's Idempotency-Key, 1 to 255 printable ASCII characters
// (draft-ietf-httpapi-idempotency-key-header), or an empty string.
func (in *Reader) IdempotencyKey() string {
	const name = "Idempotency-Key"
	values := in.r.Header.Values(name)
	switch {
	case len(values) == 0:
		return ""
	case len(values) > 1:
		in.parameter(name, "duplicate", "must be given once")
		return ""
	}
	key := values[0]
	if len(key) < 1 || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		in.parameter(name, "format", "must be 1 to 255 printable ASCII characters")
	}
	return key
}

// Body returns the JSON object of the request. Its faults are added to those in Err. If the body
// cannot be read, Body returns an object without fields, whose faults are ignored, and Err says
// what is wrong.
func (in *Reader) Body() *Object {
	return in.BodyWith(func([]byte) []byte { return nil })
}

// BodyWith is Body for what programs of others send, which nobody here can correct. A body that is no JSON is read as
// repair makes it, if that is JSON.
func (in *Reader) BodyWith(repair func([]byte) []byte) *Object {
	text, fatal := in.read(repair)
	if fatal != nil {
		in.fatal = fatal
		return ObjectOf(nil, &Faults{})
	}
	in.body = ObjectOf(text, &in.faults)
	return in.body
}

// read returns the text of a body that is a JSON object.
func (in *Reader) read(repair func([]byte) []byte) ([]byte, *problem.Error) {
	if fatal := in.mediaType(); fatal != nil {
		return nil, fatal
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, in.r.Body, in.most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, problem.New(problem.BodyTooLarge, "The body is larger than %d bytes.", in.most)
	}
	if err != nil {
		return nil, problem.Wrap(err, problem.InvalidJSON, "The body could not be read.")
	}
	if err := CheckJSON(text); errors.Is(err, ErrEmpty) {
		return nil, problem.New(problem.InvalidJSON, "The body is empty; a JSON object is expected.")
	} else if err != nil {
		if text = repair(text); CheckJSON(text) != nil {
			return nil, problem.New(problem.InvalidJSON, "The body %s.", err)
		}
	}
	if kind := KindOf(text); kind != ObjectKind {
		fatal := problem.New(problem.ValidationFailed, "The body must be a JSON object, not %s.", kind)
		fatal.Faults = []problem.Fault{{Pointer: "", Code: "type", Detail: "must be an object, not " + string(kind)}}
		return nil, fatal
	}
	return text, nil
}

// mediaType accepts application/json, with charset utf-8 or none (RFC 8259 §11), without
// compression.
func (in *Reader) mediaType() *problem.Error {
	for _, coding := range in.r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(coding), "identity") {
			return problem.New(problem.UnsupportedMediaType, "The body must not be compressed: leave Content-Encoding out.")
		}
	}
	values := in.r.Header.Values("Content-Type")
	if len(values) == 1 {
		media, parameters, err := mime.ParseMediaType(values[0])
		charset, given := parameters["charset"]
		if err == nil && media == "application/json" && (!given || strings.EqualFold(charset, "utf-8")) {
			return nil
		}
	}
	return problem.New(problem.UnsupportedMediaType, "The body must be sent as Content-Type: application/json, in UTF-8.")
}
