package boxtoken_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/testing/expect"
)

func TestNew_IsReadBack_AndNeverTheSame(t *testing.T) {
	for _, kind := range []boxtoken.Prefix{boxtoken.Box, boxtoken.Gateway} {
		text, made := boxtoken.New(kind, "box-1")
		got, ok := boxtoken.Parse(text)
		expect.That(t, ok && got == made, "%s: read back %+v, want %+v", kind, got, made)
		if made.Kind != kind || made.Subject != "box-1" || len(made.SHA256) != 64 || strings.Contains(text, made.SHA256) {
			t.Errorf("made %+v of %d characters", made, len(text))
		}
		again, _ := boxtoken.New(kind, "box-1")
		expect.That(t, again != text, "two tokens are the same")
	}
}

func TestParse_OtherTexts_AreNoTokens(t *testing.T) {
	text, _ := boxtoken.New(boxtoken.Box, "box-1")
	secret := text[strings.LastIndex(text, ":")+1:]
	for name, other := range map[string]string{
		"empty":              "",
		"no kind":            ":box-1:" + secret,
		"another kind":       "wavegate-owner:box-1:" + secret,
		"no subject":         "wavegate-edge::" + secret,
		"no name":            "wavegate-edge:../1:" + secret,
		"one part more":      text + ":x",
		"a short secret":     text[:len(text)-1],
		"a long secret":      text + "AAAA",
		"padding":            text + "=",
		"another alphabet":   "wavegate-edge:box-1:" + strings.Repeat("+", len(secret)),
		"a bit that is lost": text[:len(text)-1] + "B",
		"a JWT":              "eyJhbGciOiJFUzI1NiJ9.e30.c2ln",
		"a line break":       text + "\n",
	} {
		got, ok := boxtoken.Parse(other)
		expect.That(t, !ok, "%s: read %+v", name, got)
	}
}

// TestParse_Vectors_AreReadAsTheySay: the file is for makers of boxes who write their own code.
func TestParse_Vectors_AreReadAsTheySay(t *testing.T) {
	text := expect.Value(os.ReadFile("testdata/vectors.json"))(t)
	var vectors struct {
		Valid []struct {
			Token, Kind, Subject, TokenSHA256 string
		}
		Invalid []string
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.Valid) == 0 || len(vectors.Invalid) == 0 {
		t.Fatal(len(vectors.Valid), len(vectors.Invalid), err)
	}
	for _, v := range vectors.Valid {
		want := boxtoken.Token{Kind: boxtoken.Prefix(v.Kind), Subject: v.Subject, SHA256: v.TokenSHA256}
		got, ok := boxtoken.Parse(v.Token)
		expect.That(t, ok && got == want, "%s: read %+v", v.Token, got)
	}
	for _, token := range vectors.Invalid {
		got, ok := boxtoken.Parse(token)
		expect.That(t, !ok, "%q: read %+v", token, got)
	}
}

// TestForeign_IsNeverOneOfOurs, names the call's box, and is weak below 20 characters.
func TestForeign_IsNeverOneOfOurs(t *testing.T) {
	ours, _ := boxtoken.New(boxtoken.Box, "box-1")
	for text, want := range map[string]bool{
		strings.Repeat("f", 32): true, strings.Repeat("f", 19): true, "a b": true, "x.y.z": true, strings.Repeat("f", 512): true,
		"": false, strings.Repeat("f", 513): false, ours: false, ours + "x": false, "eyJh.e30.c2ln": false,
	} {
		got, ok := boxtoken.Foreign("box-1", text)
		expect.Equal(t, ok, want, "%q", text)
		if ok && (got.Kind != boxtoken.Box || got.Subject != "box-1" || !got.Foreign || got.Weak != (len(text) < 20) || len(got.SHA256) != 64) {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
	_, ok := boxtoken.Foreign("../1", strings.Repeat("f", 32))
	expect.That(t, !ok, "no box has this name")
}

// FuzzParse checks that an accepted token has only one spelling.
func FuzzParse(f *testing.F) {
	text, _ := boxtoken.New(boxtoken.Gateway, "acme")
	f.Add(text)
	f.Add("wavegate-edge:box-1:")
	text, _ = boxtoken.New(boxtoken.Box, "00:1A:2B")
	f.Add(text)
	text, _ = boxtoken.New(boxtoken.Enrolment, "0192f0c1-8a31-7b0c-9d2e-4f5a6b7c8d90")
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := boxtoken.Parse(text)
		secret := 43
		if got.Kind == boxtoken.Enrolment {
			secret = 22
		}
		if ok && (!strings.HasPrefix(text, string(got.Kind)+":"+got.Subject+":") || len(text) != len(got.Kind)+len(got.Subject)+2+secret || strings.ContainsAny(text, " /\n")) {
			t.Errorf("%q was read as %+v", text, got)
		}
	})
}
