// Package request reads a request: path, query and header parameters and a strict JSON body. It
// collects all faults and reports them together, so that a caller can fix a request in one step.
package request

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/strictjson"
	"wavegate/shared/platform/value"
)

// MaxBody is the largest body in bytes, unless the operation's row sets another bound.
const MaxBody = 16 << 10

// An Input is a request that is being read. Read every value, then call Err. The values may only
// be used if Err returns nil.
type Input struct {
	r      *http.Request
	faults fields.Faults
	body   *fields.Object
	fatal  *problem.Error // a body that cannot be read
	query  url.Values
	known  []string
	most   int64 // the largest body, in bytes
}

// Of starts reading a request.
func Of(r *http.Request) *Input {
	in := &Input{r: r, most: MaxBody}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		in.parameter("query", "format", "must be a percent-encoded query string")
	}
	in.query = query
	return in
}

// BoundBody sets the largest body, in bytes, instead of MaxBody.
func (in *Input) BoundBody(most int) { in.most = int64(most) }

func (in *Input) parameter(name, code, detail string) {
	in.faults.Add(problem.Fault{Parameter: name, Code: code, Detail: detail})
}

// Err reports all faults at once: faults of the values that were read, and every query parameter
// and body field that was not read.
func (in *Input) Err() error {
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
func (in *Input) Path(name string, rule *value.Text) string {
	raw := in.r.PathValue(name)
	// API Gateway passes path parameters on as the caller encoded them.
	value, err := url.PathUnescape(raw)
	if err != nil {
		in.parameter(name, "format", "must be "+rule.Says)
		return ""
	}
	return in.apply(name, value, rule)
}

func (in *Input) apply(parameter, raw string, rule *value.Text) string {
	kept, code, detail := rule.Apply(raw)
	if code != "" {
		in.parameter(parameter, code, detail)
	}
	return kept
}

// Query returns an optional query parameter, which may be given once.
func (in *Input) Query(name string, rule *value.Text) (value string, given bool) {
	raw, given := in.queryOnce(name)
	if !given {
		return "", false
	}
	return in.apply(name, raw, rule), true
}

// QueryList returns the different values of a query parameter that may be given up to most times.
func (in *Input) QueryList(name string, most int, rule *value.Text) []string {
	in.known = append(in.known, name)
	var kept []string
	values := in.query[name]
	if len(values) > most {
		in.parameter(name, "length", "must be given at most "+strconv.Itoa(most)+" times")
		values = values[:most]
	}
	for _, raw := range values {
		one := in.apply(name, raw, rule)
		if one != "" && slices.Contains(kept, one) {
			in.parameter(name, "duplicate", "must not be given twice with the same value")
		}
		kept = append(kept, one)
	}
	return kept
}

// RequiredQuery returns a query parameter that must be given, once.
func (in *Input) RequiredQuery(name string, rule *value.Text) string {
	value, given := in.Query(name, rule)
	if !given {
		in.parameter(name, "required", "is required")
	}
	return value
}

// QueryInteger returns an optional whole number between least and most, or the default fallback.
func (in *Input) QueryInteger(name string, least, most, fallback int) int {
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

func (in *Input) queryOnce(name string) (string, bool) {
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
func (in *Input) Fault(parameter, code, detail string) { in.parameter(parameter, code, detail) }

// Refuse makes p the request's problem instead of VALIDATION_FAILED. The other faults are still
// reported in it. A body that cannot be read stays the problem.
func (in *Input) Refuse(p *problem.Error) {
	if in.fatal == nil {
		in.fatal = p
	}
}

// IdempotencyKey returns the caller's Idempotency-Key, 1 to 255 printable ASCII characters
// (draft-ietf-httpapi-idempotency-key-header), or an empty string.
func (in *Input) IdempotencyKey() string {
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
func (in *Input) Body() *fields.Object {
	return in.BodyWith(func([]byte) []byte { return nil })
}

// BodyWith is Body for what programs of others send, which nobody here can correct. A body that is no JSON is read as
// repair makes it, if that is JSON.
func (in *Input) BodyWith(repair func([]byte) []byte) *fields.Object {
	text, fatal := in.read(repair)
	if fatal != nil {
		in.fatal = fatal
		return fields.Of(nil, &fields.Faults{})
	}
	in.body = fields.Of(text, &in.faults)
	return in.body
}

// read returns the text of a body that is a JSON object.
func (in *Input) read(repair func([]byte) []byte) ([]byte, *problem.Error) {
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
	if err := strictjson.Check(text); errors.Is(err, strictjson.ErrEmpty) {
		return nil, problem.New(problem.InvalidJSON, "The body is empty; a JSON object is expected.")
	} else if err != nil {
		if text = repair(text); strictjson.Check(text) != nil {
			return nil, problem.New(problem.InvalidJSON, "The body %s.", err)
		}
	}
	if kind := strictjson.KindOf(text); kind != strictjson.Object {
		fatal := problem.New(problem.ValidationFailed, "The body must be a JSON object, not %s.", kind)
		fatal.Faults = []problem.Fault{{Pointer: "", Code: "type", Detail: "must be an object, not " + string(kind)}}
		return nil, fatal
	}
	return text, nil
}

// mediaType accepts application/json, with charset utf-8 or none (RFC 8259 §11), without
// compression.
func (in *Input) mediaType() *problem.Error {
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
