package samples

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
)

// Values fill the placeholders of templates. A value may contain placeholders.
type Values map[string]string

var placeholder = regexp.MustCompile(`\{\w+\+?\}`)

func nameOf(placeholder string) string { return strings.Trim(placeholder, "{}+") }

// fixed are the values in the event files. The ids are those that a run learns from its answers.
var fixed = Values{
	"organization": "acme",
	"user":         "eric",
	"edgeType":     "gateway-x",
	"channel":      "stable",
	"version":      "1.0.0",
	"sha256":       "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	"edgeId":       "box-0001",
	"controller":   "box-0002",
	"newcomer":     "box-0003",
	"rolloutId":    "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a",
	"factoryId":    "munich-1",
	"code":         "press-1",
	"productId":    "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11",
	"methodId":     "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70",
	"key":          "key-1",
	"etag":         `"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`,
	"enrolmentId":  "0192f0c1-8a31-7b0c-9d2e-4f5a6b7c8d90",
	// The code is only valid at the service that made it.
	"enrolmentCode": "0192f0c1-8a31-7b0c-9d2e-4f5a6b7c8d90:q83vEjRWeJCrze8SNFZ4kA",
	"soon":          Soon,
	"passing":       "",
}

// named are the values that name new things, so that each run needs new ones.
var named = []string{"user", "edgeType", "edgeId", "controller", "newcomer", "factoryId", "code", "key"}

// numbered is the value that is not a name: it counts from 1, without gaps.
const numbered = "number"

// Soon is the future time in the event files, which a run replaces.
const Soon = "2026-12-27T06:00:00Z"

// Fixed returns the values of the event files, adjusted to the time of a run: soon is in the future, and calls that a
// freeze would block have an override, so that the samples of the freeze do not affect the others.
func Fixed() Values {
	v := maps.Clone(fixed)
	v["soon"] = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	v["passing"] = `,"overrideReason":"not held up by a sample"`
	return v
}

// with adds values to others.
func with(values, more Values) Values {
	all := maps.Clone(values)
	maps.Copy(all, more)
	return all
}

// Fresh returns values with new names. name makes a new name with a stem.
func Fresh(name func(stem string) string) Values {
	v := Fixed()
	for _, n := range named {
		v[n] = name(stem(n))
	}
	return v
}

// stem is the beginning of a value's names.
func stem(value string) string {
	s, _, _ := strings.Cut(cmp.Or(fixed[value], value), "-")
	return s
}

// A Call is a sample's call with all values.
type Call struct {
	Operation  string
	By         Caller
	Method     string
	Path       string // with the query
	Body       string
	Header     [2]string         // an additional one, name and value; empty: none
	Parameters map[string]string // of the path
	Status     int
	Shows      string
}

// Call fills a case of the sample. The case's own values come first, then the sample's own, then those given, then
// the sample's defaults. It panics if a placeholder has no value.
func (s Sample) Call(given Values, c Case) Call {
	op := table.Get(s.Operation)
	var fill func(string) string
	value := func(name string) string {
		for _, from := range []Values{c.With, s.Own, given, s.Defaults} {
			if v, ok := from[name]; ok {
				return fill(v)
			}
		}
		panic(fmt.Sprintf("samples: %s: {%s} has no value", s.Operation, name))
	}
	fill = func(template string) string {
		return placeholder.ReplaceAllStringFunc(template, func(p string) string { return value(nameOf(p)) })
	}
	call := Call{
		Operation: s.Operation,
		By:        Caller{fill(s.By.User), fill(s.By.Organization), s.By.Role},
		Method:    op.Method,
		Path:      fill(op.Path),
		Body:      fill(cmp.Or(c.Body, s.Body)),
		Header:    [2]string{c.Header[0], fill(c.Header[1])},
		Status:    cmp.Or(c.Status, s.Status),
		Shows:     fill(s.Shows),
	}
	if op.Method == operations.Any {
		call.Method = http.MethodPost
	}
	if query := fill(cmp.Or(c.Query, s.Query)); query != "" {
		call.Path += "?" + query
	}
	for _, name := range op.Parameters() {
		if call.Parameters == nil {
			call.Parameters = map[string]string{}
		}
		call.Parameters[name] = value(name)
	}
	return call
}
