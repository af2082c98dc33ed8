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
	"cmp"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// MaxBody is the largest body in bytes, unless the operation's row sets another bound.
const MaxBody = 16 << 10

// A Reader reads a request. Ask for every value, then call Err. The values may only be used if Err returns nil. What was
// asked for is what the operation takes.
type Reader struct {
	// Settings, Now and Organization are what rules may depend on besides the request: the settings of the function, the
	// time, and the caller's organization.
	Settings     *setting.Values
	Now          time.Time
	Organization string
	Box          bool // the caller is a box

	r        *http.Request
	takes    Takes // so far
	declares bool  // there is no request: it is read for what it takes
	faults   Faults
	body     *Object
	fatal    *problem.Error // a body that cannot be read
	query    url.Values

	undecoded error    // the query cannot be decoded as a whole
	foreign   []string // declared parameters that this request does not have
}

// Of starts reading a request. Limit bounds the body, in bytes; 0 means MaxBody.
func Of(r *http.Request, takes Takes) *Reader {
	in := &Reader{r: r, takes: Takes{MaxBody: takes.MaxBody}}
	in.query, in.undecoded = url.ParseQuery(r.URL.RawQuery)
	return in
}

func (in *Reader) parameter(name, code, detail string) {
	in.faults.Add(problem.Fault{Parameter: name, Code: code, Detail: detail})
}

// Err reports all faults at once: faults of the values, and every query parameter and body field that nobody asked for.
func (in *Reader) Err() error {
	faults := in.faults.list
	if !in.faults.hears {
		faults = in.all()
	}
	if in.fatal != nil {
		in.fatal.Faults = append(faults, in.fatal.Faults...)
		return in.fatal
	}
	if len(faults) == 0 {
		return nil
	}
	return problem.Invalid(faults)
}

// all returns the faults with those of the whole query, and of what nobody asked for.
func (in *Reader) all() []problem.Fault {
	var all Faults
	if in.undecoded != nil {
		all.Add(problem.Fault{Parameter: "query", Code: "format", Detail: "must be a percent-encoded query string"})
	}
	all.list = append(all.list, in.faults.list...)
	for _, name := range slices.Sorted(maps.Keys(in.query)) {
		if _, declared := in.takes.Query.Find(name); !declared || slices.Contains(in.foreign, name) {
			all.Add(problem.Fault{Parameter: name, Code: "unknown", Detail: "is not a parameter of this operation"})
		}
	}
	if in.body != nil && in.fatal == nil {
		in.body.Unread(&all)
	}
	return all.List()
}

// Path returns a path parameter.
func (in *Reader) Path(name string, rule *Text) string {
	in.takes.Path = append(in.takes.Path, Field{Name: name, Is: rule})
	raw := in.r.PathValue(name)
	// API Gateway passes path parameters on as the caller encoded them.
	value, err := url.PathUnescape(raw)
	if err != nil {
		in.parameter(name, "format", "must be "+rule.Says)
		return ""
	}
	return in.apply(name, value, rule)
}

// PathHeard is Path for a parameter that a box makes up. If it is not valid, it is empty, and noted.
func (in *Reader) PathHeard(name string, rule *Text) string {
	if !in.faults.hears {
		return in.Path(name, rule)
	}
	in.takes.Path = append(in.takes.Path, Field{Name: name, Is: rule})
	return in.faults.fit(name, in.r.PathValue(name), rule)
}

func (in *Reader) apply(parameter, raw string, rule *Text) string {
	kept, code, detail := rule.Apply(raw)
	if code != "" {
		in.parameter(parameter, code, detail)
	}
	return kept
}

// Query returns a query parameter, which may be given once, and reports whether it is given.
func (in *Reader) Query(name string, rule *Text) (value string, given bool) {
	raw, given := in.raw(Field{Name: name, Is: rule})
	if !given {
		return "", false
	}
	if in.faults.hears {
		value = in.faults.fit(name, raw, rule)
		return value, value != ""
	}
	return in.apply(name, raw, rule), true
}

// QuerySaid is Query for what boxes say. It also returns the value as it was sent.
func (in *Reader) QuerySaid(name string, rule *Text) (value, sent string) {
	value, _ = in.Query(name, rule)
	return value, in.query.Get(name)
}

// RequiredQuery is Query for a parameter that is required.
func (in *Reader) RequiredQuery(name string, rule *Text) string {
	raw, given := in.raw(Field{Name: name, Is: rule, Required: true})
	if !given {
		in.parameter(name, "required", "is required")
		return ""
	}
	return in.apply(name, raw, rule)
}

// QueryIf is Query for a parameter that only some requests may have. In others, it is unknown.
func (in *Reader) QueryIf(may bool, name string, rule *Text) (value string, given bool) {
	if may {
		return in.Query(name, rule)
	}
	in.takes.Query, in.foreign = append(in.takes.Query, Field{Name: name, Is: rule}), append(in.foreign, name)
	return "", false
}

// Flag returns a query parameter that is true or false; if it is not given, false.
func (in *Reader) Flag(name string) bool {
	text, _ := in.Query(name, flagRule)
	return text == "true"
}

var flagRule = &Text{Pattern: `true|false`, Says: "true or false"}

// QueryList returns the different values of a query parameter that may be given several times.
func (in *Reader) QueryList(name string, rule *Text, most int) []string {
	in.takes.Query = append(in.takes.Query, Field{Name: name, Is: &List{Of: rule, Most: most}})
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

// QueryInteger returns a whole number, or a default.
func (in *Reader) QueryInteger(name string, rule *Integer, otherwise int) int {
	raw, given := in.raw(Field{Name: name, Is: rule, Default: otherwise})
	if !given {
		return otherwise
	}
	n, err := strconv.Atoi(raw)
	if err != nil || !rule.Accepts(int64(n)) || raw != strconv.Itoa(n) {
		in.parameter(name, "range", "must be "+rule.Says())
		return otherwise
	}
	return n
}

// QueryText returns a query parameter as it was sent, without checking the rule.
func (in *Reader) QueryText(name string, rule Rule) (string, bool) {
	return in.raw(Field{Name: name, Is: rule})
}

// QueryTexts returns the values of a query parameter as they were sent, which are not checked.
func (in *Reader) QueryTexts(name string) []string {
	in.takes.Query = append(in.takes.Query, Field{Name: name, Is: &List{}})
	return in.query[name]
}

func (in *Reader) raw(field Field) (string, bool) {
	in.takes.Query = append(in.takes.Query, field)
	values, given := in.query[field.Name]
	if len(values) > 1 && in.faults.hears {
		in.faults.note(field.Name, strings.Join(values, " & "), values[0])
	} else if len(values) > 1 {
		in.parameter(field.Name, "duplicate", "must be given once")
		return "", false
	}
	if !given {
		return "", false
	}
	return values[0], true
}

// Values makes a query of names and values, in turn. An empty value is not given.
func Values(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
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

// BodyWith is Body for what the programs of others send, which nobody here can correct. A body that is not JSON is read
// as repair returns it, if that is JSON.
func (in *Reader) BodyWith(repair func([]byte) []byte) *Object {
	if in.declares {
		in.body = &Object{declares: true, faults: &in.faults}
		return in.body
	}
	if in.faults.hears {
		return ObjectOf(in.hear(repair), &in.faults)
	}
	text, fatal := in.read(repair)
	if fatal != nil {
		in.fatal = fatal
		return ObjectOf(nil, &Faults{})
	}
	in.body = ObjectOf(text, &in.faults)
	return in.body
}

// Said returns the body's fields that were asked for, as they were sent and are known: texts as their rules keep them, and
// without the fields that are absent. Two valid bodies that say the same have the same canonical form.
func (in *Reader) Said() map[string]any {
	if in.body == nil {
		return nil
	}
	return in.body.said
}

// read returns the text of a body that is a JSON object.
func (in *Reader) read(repair func([]byte) []byte) ([]byte, *problem.Error) {
	if fatal := in.mediaType(); fatal != nil {
		return nil, fatal
	}
	most := int64(cmp.Or(in.takes.MaxBody, MaxBody))
	text, err := io.ReadAll(http.MaxBytesReader(nil, in.r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, problem.New(problem.BodyTooLarge, "The body is larger than %d bytes.", most)
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
			return problem.New(problem.UnsupportedMediaType, "The body must not be compressed; omit Content-Encoding.")
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
