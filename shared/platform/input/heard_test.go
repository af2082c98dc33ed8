package input_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

// heardBy reads a request of a box.
func heardBy(query, body string) *input.Reader {
	r := httptest.NewRequest(http.MethodPut, "/", strings.NewReader(body))
	r.URL.RawQuery = query
	in := input.Of(r, input.Takes{MaxBody: 1000})
	in.Box = true
	in.Hears()
	return in
}

var line = &input.Text{Max: 10, Check: input.Visible, Says: "at most 10 visible characters"}

func TestHears_AText_IsReadAsItIsMeant(t *testing.T) {
	for said, want := range map[string]string{
		"1.4.0": "1.4.0", " 1.4.0\r\n": "1.4.0", "\ufeff1.4.0": "1.4.0", "1.4.0\x00\x00": "1.4.0", "a\nb": "a?b", "e\u0301": "\u00e9",
		"01234567890": "0123456789", "012345678 9": "012345678", "\xff": "?", "\n": "", "\u200b": "", "": "",
	} {
		in := heardBy("a="+url.QueryEscape(said), "")
		got, given := in.Query("a", line)
		expect.Equal(t, got, want, "%q is read as", said)
		expect.Equal(t, given, want != "", "%q is given", said)
		heard := []input.Heard{{Field: "a", Said: input.Shown(said), Read: want}}
		if said == want {
			heard = nil
		}
		expect.Equal(t, in.Heard(), heard, "%q is noted as", said)
		expect.OK(t, in.Err())
	}
}

func TestHears_ABody_IsReadAsFarAsItCanBe(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":"x","n":7}`:                       "x 7",
		"\ufeff{\"a\":\"x\",\"n\":7}\x00":       "x 7",
		"{\"a\":\"x\n\",\"n\":\"7\"}":           "x 7",
		`{"a":1.50,"n":"7 "}`:                   "1.50 0",
		`{"a":true,"n":7.5}`:                    "true 0",
		`{"a":null,"n":[7]}`:                    " 0",
		`{"a":["x"],"n":8}`:                     " 8",
		`{"a":"x","a":"y","n":7}`:               "x 7",
		`{"b":{},"n":-1,"a":"x"}`:               "x 0",
		`["a"]`:                                 " 0",
		``:                                      " 0",
		`{"a":"x","n":7`:                        " 0",
		strings.Repeat(" ", 1000) + `{"a":"x"}`: " 0",
		`{"a":` + strings.Repeat("[", 900):      " 0",
	} {
		in := heardBy("", body)
		o := in.Body()
		a, _ := o.OptionalText("a", line)
		n, _ := o.OptionalInteger("n", &input.Integer{Least: 0, Most: 9})
		expect.Equal(t, a+" "+string(rune('0'+n)), want, "%.40q", body)
		expect.OK(t, in.Err())
	}
}

// TestHears_WhoIsNoBox_GetsAllFaults: the same request of a person is refused.
func TestHears_WhoIsNoBox_GetsAllFaults(t *testing.T) {
	r := httptest.NewRequest(http.MethodPut, "/?a=x%0A&b=1", strings.NewReader(`{"n":"x"}`))
	r.Header.Set("Content-Type", "application/json")
	in := input.Of(r, input.Takes{})
	in.Hears()
	in.Query("a", line)
	in.Body().Integer("n", &input.Integer{Least: 0, Most: 9})
	expect.Equal(t, len(faults(t, in.Err())), 3, "faults")
	expect.Equal(t, len(in.Heard()), 0, "notes")
}

func TestShown_WhatCannotBeSeen_IsASign(t *testing.T) {
	for said, want := range map[string]string{
		" a b ": "␣a b␣", "\t\r\n": "⇥␍⏎", "\x00": "␀", "\u202ea": "<U+202E>a", "\u2800": "<U+2800>", "\xff": "\ufffd", "": "", "   ": "␣␣␣",
		strings.Repeat("x", 70): strings.Repeat("x", 64) + "…",
	} {
		expect.Equal(t, input.Shown(said), want, "%q", said)
	}
}

// FuzzHears: no query and no body of a box is a fault, and whatever is kept or shown of it can be seen.
func FuzzHears(f *testing.F) {
	f.Add("a=1.4.0%0A&b=%zz&;", "{\"a\":\"x\n\",\"n\":[1]}")
	f.Add("x=1", `{"o":{"x":1,"x":2},"o":7,"y":1,"y":2}`)
	f.Add("a=+", "\ufeff{\"a\":\"\\ud800\"}")
	f.Fuzz(func(t *testing.T, query, body string) {
		in := heardBy(query, body)
		text, _ := in.Query("a", line)
		o := in.BodyWith(func(b []byte) []byte { return b })
		other, _ := o.OptionalText("a", line)
		o.Integer("n", &input.Integer{Least: 0, Most: 9})
		o.Strings("s")
		o.Object("o", func(inner *input.Object) { inner.Text("a", line) })
		o.Others()
		expect.OK(t, in.Err())
		for _, one := range []string{text, other} {
			expect.Must(t, one == "" || line.Accepts(one), "%q is kept", one)
		}
		expect.Must(t, len(in.Heard()) <= 8, "%d notes", len(in.Heard()))
		for _, h := range in.Heard() {
			for _, shown := range []string{h.Field, h.Said, h.Read} {
				expect.Must(t, utf8.ValidString(shown) && utf8.RuneCountInString(shown) <= 10*65, "%q is shown", shown)
			}
		}
	})
}
