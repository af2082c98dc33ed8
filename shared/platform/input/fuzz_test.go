package input_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"unicode/utf8"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// FuzzBody checks any body. Reading it must not panic. A refusal has a reason. An accepted value
// equals what encoding/json reads.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","staged_percent":10}`, `{}`, `null`, `[]`, `""`, ``, `{"name":"\ud83d\ude00"}`, `{"name":"\ud800"}`,
		`{"name":"a","name":"b"}`, `{"Name":"a"}`, `{"staged_percent":1e1}`, `{"staged_percent":10.0}`, `{"staged_percent":1e400}`,
		`{"staged_percent":-0}`, "{\"name\":\"\xff\"}", `{"a":{"a":{"a":[[[1]]]}}}`, `{"name":"a"} `, `{"name":"a"}x`, `{"name":"` + "\t" + `"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		in := input.Of(sent(string(body)), input.Takes{})
		b := in.Body()
		name, hasName := b.OptionalText("name", &input.Text{})
		percent, hasPercent := b.OptionalInteger("staged_percent", &input.Integer{Least: math.MinInt64, Most: math.MaxInt64})
		err := in.Err()
		if err != nil {
			p := problem.From(err)
			expect.Must(t, p.Code != problem.Internal && p.Detail != "", "refused without a reason: %v", err)
			return
		}
		expect.Must(t, utf8.Valid(body), "invalid UTF-8 was accepted")
		var std map[string]any
		if err := json.Unmarshal(body, &std); err != nil {
			t.Fatalf("accepted, but encoding/json says %v", err)
		}
		want := map[string]any{}
		if hasName {
			want["name"] = name
		}
		if hasPercent {
			want["staged_percent"] = float64(percent)
		}
		expect.Must(t, reflect.DeepEqual(std, want), "read %v, encoding/json reads %v", want, std)
	})
}

// FuzzHeaders checks any conditional header and key. Reading them must not panic. A malformed
// condition is a fault, never a condition that holds.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{`"3"`, `*`, `W/"3"`, `"1", "3"`, `,`, `"`, `W/`, `3`, "\x00", `"a" , *`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for _, name := range []string{"If-Match", "If-None-Match", "Idempotency-Key"} {
			r.Header[name] = []string{value}
		}
		in := input.Of(r, input.Takes{})
		when := in.Preconditions()
		if in.Err() == nil && when.Check("") == nil {
			t.Fatalf("%q: If-Match held for a resource that does not exist", value)
		}
		if key := in.IdempotencyKey(); in.Err() == nil && key != value {
			t.Fatalf("%q was changed to %q", value, key)
		}
		input.NotModified(r, `"3"`)
	})
}

// FuzzPathAndQuery checks any path parameter and query. Reading them must not panic, and only
// valid values are accepted.
func FuzzPathAndQuery(f *testing.F) {
	f.Add("gateway-x", "limit=1&offset=2")
	f.Add("%2e%2e", "limit=1&limit=2")
	f.Add("%zz", "a=%zz;b")
	f.Fuzz(func(t *testing.T, segment, query string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.RawQuery = query
		r.SetPathValue("name", segment)
		in := input.Of(r, input.Takes{})
		name := in.Path("name", word)
		limit := in.QueryInteger("limit", upTo100, 50)
		if in.Err() != nil {
			return
		}
		_, code, _ := word.Apply(name)
		expect.Must(t, code == "" && limit >= 1 && limit <= 100, "took %q and %d", name, limit)
	})
}
