package input_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

var (
	word  = &input.Text{Pattern: `[a-z]{1,8}`, Says: "1 to 8 lower-case letters"}
	title = &input.Text{Min: 1, Max: 200, Trim: true, Check: input.Printable, Says: "1 to 200 characters without control characters"}
	stage = &input.Integer{OneOf: []int{1, 10, 50, 100}}
)

var upTo100 = &input.Integer{Least: 1, Most: 100}

func sent(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// faults lists the faults of a problem, as "place code".
func faults(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var list []string
	for _, f := range problem.From(err).Faults {
		place := f.Parameter
		if place == "" {
			place = "body:" + f.Pointer
		}
		list = append(list, place+" "+f.Code)
	}
	return list
}

func TestBody_NotAnObject_IsRefusedWithItsCode(t *testing.T) {
	cases := map[string]struct {
		body string
		code problem.Code
	}{
		"empty":                     {"", problem.InvalidJSON},
		"white space":               {" \n\t", problem.InvalidJSON},
		"null":                      {"null", problem.ValidationFailed},
		"array":                     {`[{"name":"a"}]`, problem.ValidationFailed},
		"string":                    {`"name"`, problem.ValidationFailed},
		"number":                    {`1`, problem.ValidationFailed},
		"cut short":                 {`{"name":"a"`, problem.InvalidJSON},
		"trailing bytes":            {`{"name":"a"} x`, problem.InvalidJSON},
		"a second value":            {`{"name":"a"}{}`, problem.InvalidJSON},
		"single quotes":             {`{'name':'a'}`, problem.InvalidJSON},
		"trailing comma":            {`{"name":"a",}`, problem.InvalidJSON},
		"byte order mark":           {"\ufeff" + `{"name":"a"}`, problem.InvalidJSON},
		"invalid UTF-8":             {"{\"name\":\"a\xff\"}", problem.InvalidJSON},
		"overlong UTF-8":            {"{\"name\":\"\xc0\xaf\"}", problem.InvalidJSON},
		"half a surrogate pair":     {`{"name":"\ud800"}`, problem.InvalidJSON},
		"surrogates in wrong order": {`{"name":"\udc00\ud800"}`, problem.InvalidJSON},
		"17 levels deep":            {strings.Repeat(`{"a":`, 17) + "1" + strings.Repeat("}", 17), problem.InvalidJSON},
		"5,000 brackets":            {strings.Repeat("[", 5000), problem.InvalidJSON},
		"17 KiB":                    {`{"name":"` + strings.Repeat("a", 17<<10) + `"}`, problem.BodyTooLarge},
		"one byte too large":        {`{"name":"` + strings.Repeat("a", input.MaxBody-10) + `"}`, problem.BodyTooLarge},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := input.Of(sent(c.body), input.Takes{})
			in.Body().Text("name", title)
			err := in.Err()
			expect.Must(t, problem.Has(err, c.code), "got %v, want %s", err, c.code)
			expect.Must(t, problem.From(err).Detail != "", "the problem has no detail")
		})
	}
}

func TestBody_AtTheLimit_IsAccepted(t *testing.T) {
	body := `{"name":"a"` + strings.Repeat(" ", input.MaxBody-12) + `}`
	expect.Must(t, len(body) == input.MaxBody, "the body has %d bytes", len(body))
	in := input.Of(sent(body), input.Takes{})
	if got := in.Body().Text("name", title); got != "a" || in.Err() != nil {
		t.Fatalf("got %q, %v", got, in.Err())
	}
}

func TestBody_EscapedSurrogatePair_IsOneCharacter(t *testing.T) {
	in := input.Of(sent(`{"name":"\ud83d\ude00 \\ud800"}`), input.Takes{})
	if got := in.Body().Text("name", title); got != `😀 \ud800` || in.Err() != nil {
		t.Fatalf("got %q, %v", got, in.Err())
	}
}

func TestErr_ManyFaults_AreReportedTogether(t *testing.T) {
	r := sent(`{"Name":"a","productId":null,"extra":1,"extra":2,"productId":"x","a/b~c":true}`)
	r.URL.RawQuery = "limit=1&verbose"
	r.SetPathValue("slug", "UPPER")
	r.Header.Add("Idempotency-Key", "one")
	r.Header.Add("Idempotency-Key", "two")
	in := input.Of(r, input.Takes{})
	in.Path("slug", word)
	in.IdempotencyKey()
	body := in.Body()
	body.Text("name", title)
	body.Text("productId", input.UUID)
	want := []string{
		"slug format", "Idempotency-Key duplicate", "body:/name required", "body:/productId type",
		"limit unknown", "verbose unknown",
		"body:/Name unknown", "body:/extra unknown", "body:/extra duplicate", "body:/productId duplicate", "body:/a~1b~0c unknown",
	}
	got := faults(t, in.Err())
	slices.Sort(got)
	slices.Sort(want)
	expect.Equal(t, got, want, "the faults")
}

func TestErr_BrokenBodyAndBadPath_AreReportedTogether(t *testing.T) {
	r := sent(`{`)
	r.SetPathValue("slug", "UPPER")
	in := input.Of(r, input.Takes{})
	in.Path("slug", word)
	in.Body().Text("name", title)
	err := in.Err()
	if !problem.Has(err, problem.InvalidJSON) || !slices.Equal(faults(t, err), []string{"slug format"}) {
		t.Fatalf("got %v with %q", err, faults(t, err))
	}
}

func TestOptionalInteger(t *testing.T) {
	cases := map[string]struct {
		value string
		want  int64
		fault string
	}{
		"whole":                 {"10", 10, ""},
		"with a trailing zero":  {"10.0", 10, ""},
		"with an exponent":      {"1e1", 10, ""},
		"upper-case":            {"1E+1", 10, ""},
		"negative exponent":     {"1000e-2", 10, ""},
		"small mantissa":        {"0.10e2", 10, ""},
		"half":                  {"10.5", 0, "range"},
		"almost":                {"10.0000000000000000000000001", 0, "range"},
		"in quotes":             {`"10"`, 0, "type"},
		"negative":              {"-1", 0, "range"},
		"over":                  {"101", 0, "range"},
		"between":               {"11", 0, "range"},
		"zero":                  {"0", 0, "range"},
		"negative zero":         {"-0", 0, "range"},
		"too large for float64": {"1e400", 0, "range"},
		"too large for memory":  {"1e999999999999999999", 0, "range"},
		"tiny":                  {"1e-999999999", 0, "range"},
		"null":                  {"null", 0, "type"},
		"boolean":               {"true", 0, "type"},
		"object":                {`{"value":10}`, 0, "type"},
		"array":                 {"[10]", 0, "type"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := input.Of(sent(`{"staged_percent":`+c.value+`}`), input.Takes{})
			got, given := in.Body().OptionalInteger("staged_percent", stage)
			err := in.Err()
			expect.Must(t, given, "the field was not found")
			if c.fault == "" {
				expect.Must(t, err == nil && got == c.want, "got %d, %v", got, err)
				return
			}
			expect.Equal(t, faults(t, err), []string{"body:/staged_percent " + c.fault}, "the faults")
		})
	}
}

func TestBody_MediaType(t *testing.T) {
	for value, taken := range map[string]bool{
		"application/json":                  true,
		"Application/JSON":                  true,
		"application/json; charset=utf-8":   true,
		`application/json;charset="UTF-8"`:  true,
		"application/json; charset=latin1":  false,
		"application/problem+json":          false,
		"text/plain":                        false,
		"application/x-www-form-urlencoded": false,
		"application/json, text/plain":      false,
		"":                                  false,
		";":                                 false,
	} {
		r := sent(`{"name":"a"}`)
		r.Header.Set("Content-Type", value)
		in := input.Of(r, input.Takes{})
		in.Body().Text("name", title)
		if got := in.Err() == nil; got != taken {
			t.Errorf("%q: accepted %v, want %v (%v)", value, got, taken, in.Err())
		}
		if !taken && !problem.Has(in.Err(), problem.UnsupportedMediaType) {
			t.Errorf("%q: got %v", value, in.Err())
		}
	}
	r := sent(`{"name":"a"}`)
	r.Header.Del("Content-Type")
	in := input.Of(r, input.Takes{})
	in.Body()
	if !problem.Has(in.Err(), problem.UnsupportedMediaType) {
		t.Errorf("none: got %v", in.Err())
	}
}

// TestBody_Compressed_IsRefusedAsCompressed: read as text, it would be refused as invalid UTF-8. A
// body that is only labelled gzip would even be accepted.
func TestBody_Compressed_IsRefusedAsCompressed(t *testing.T) {
	for coding, taken := range map[string]bool{"": true, "identity": true, "gzip": false, "br": false, "identity, gzip": false} {
		r := sent(`{"name":"a"}`)
		if coding != "" {
			r.Header.Set("Content-Encoding", coding)
		}
		in := input.Of(r, input.Takes{})
		in.Body().Text("name", title)
		if got := in.Err() == nil; got != taken || !taken && !problem.Has(in.Err(), problem.UnsupportedMediaType) {
			t.Errorf("%q: %v", coding, in.Err())
		}
	}
}

func TestPath_Parameters(t *testing.T) {
	name := &input.Text{Pattern: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`, Says: "a name"}
	for raw, want := range map[string]string{
		"gateway-x":              "gateway-x",
		"gateway%2Dx":            "gateway-x",
		"a..b":                   "a..b",
		strings.Repeat("a", 64):  strings.Repeat("a", 64),
		strings.Repeat("a", 65):  "",
		"":                       "",
		"..":                     "",
		".":                      "",
		"a%2Fb":                  "",
		"a/b":                    "",
		"a b":                    "",
		"a%20b":                  "",
		"a%00":                   "",
		"a\n":                    "",
		"%zz":                    "",
		"%":                      "",
		"ä":                      "",
		"a%252Fb":                "",
		"-a":                     "",
		"a\u200b":                "",
		"gateway-x%0d%0aSet-Foo": "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetPathValue("name", raw)
		in := input.Of(r, input.Takes{})
		got := in.Path("name", name)
		if err := in.Err(); (err == nil) != (want != "") || got != want && want != "" {
			t.Errorf("%q: got %q, %v", raw, got, err)
		}
	}
}

func TestIdempotencyKey_Values(t *testing.T) {
	for key, taken := range map[string]bool{
		"k":                      true,
		"a b":                    true,
		strings.Repeat("k", 255): true,
		strings.Repeat("k", 256): false,
		"":                       false,
		"tab\there":              false,
		"ü":                      false,
		"\x7f":                   false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header["Idempotency-Key"] = []string{key}
		in := input.Of(r, input.Takes{})
		got := in.IdempotencyKey()
		if err := in.Err(); (err == nil) != taken || taken && got != key {
			t.Errorf("%q: got %q, %v", key, got, err)
		}
	}
}

func TestQuery_Values(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/?limit=7&word=abc&foreign=a&twice=a&twice=b&big=101&half=1.5&plus=%2B7&empty=&more=1", nil)
	in := input.Of(r, input.Takes{})
	expect.Equal(t, in.QueryInteger("limit", upTo100, 50), 7, "limit")
	expect.Equal(t, in.QueryInteger("absent", upTo100, 50), 50, "absent")
	got, given := in.Query("word", word)
	expect.That(t, got == "abc" && given, "word: got %q, %v", got, given)
	in.QueryIf(false, "foreign", word)
	in.Query("twice", word)
	for _, name := range []string{"big", "half", "plus", "empty"} {
		in.QueryInteger(name, upTo100, 50)
	}
	in.RequiredQuery("missing", word)
	want := []string{"twice duplicate", "big range", "half range", "plus range", "empty range", "missing required", "foreign unknown", "more unknown"}
	for range 2 { // asking again changes nothing
		expect.Equal(t, faults(t, in.Err()), want, "the faults")
	}
}

func TestFault_OfTheWholeBody_HasAnEmptyPointer(t *testing.T) {
	in := input.Of(sent(`{}`), input.Takes{})
	in.Body().RequireAny("staged_percent", "status")
	b := expect.Value(json.Marshal(problem.From(in.Err()).Faults))(t)
	expect.Equal(t, string(b), `[{"pointer":"","code":"required","detail":"must have at least one of staged_percent, status"}]`, "the faults are")
}
