package boxtoken_test

import (
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
)

func TestNew_IsReadBack_AndNeverTheSame(t *testing.T) {
	for _, kind := range []boxtoken.Kind{boxtoken.Box, boxtoken.Gateway} {
		text, made := boxtoken.New(kind, "box-1")
		if got, ok := boxtoken.Parse(text); !ok || got != made {
			t.Errorf("%s: read back %+v, want %+v", kind, got, made)
		}
		if made.Kind != kind || made.Subject != "box-1" || len(made.SHA256) != 64 || strings.Contains(text, made.SHA256) {
			t.Errorf("made %+v of %d characters", made, len(text))
		}
		if again, _ := boxtoken.New(kind, "box-1"); again == text {
			t.Error("two tokens are the same")
		}
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
		if got, ok := boxtoken.Parse(other); ok {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}

func TestPrincipal_OfAGateway_IsTheBoxThatTheCallNames(t *testing.T) {
	_, own := boxtoken.New(boxtoken.Box, "box-1")
	_, gateway := boxtoken.New(boxtoken.Gateway, "acme")
	_, rival := boxtoken.New(boxtoken.Gateway, "rival")
	box, acme := boxtoken.For(own.Principal("acme"), "box-2"), boxtoken.For(gateway.Principal("acme"), "box-2")
	if box.UserID != "box-1" || acme.UserID != "box-2" || !box.Has(auth.Edge) || box.Has(auth.Member) || acme.Has(auth.Member) {
		t.Errorf("the callers are %+v and %+v", box, acme)
	}
	if boxtoken.For(gateway.Principal("acme"), "../1").UserID != "acme" {
		t.Error("a gateway called as what is no box")
	}
	if other := boxtoken.For(rival.Principal("rival"), "box-2"); other.User() == acme.User() {
		t.Error("two organizations share a caller")
	}
	jwt := auth.Principal{Issuer: "https://fleet.example", UserID: "box-1"}
	if boxtoken.KindOf(box) != boxtoken.Box || boxtoken.KindOf(acme) != boxtoken.Gateway || boxtoken.KindOf(jwt) != "" {
		t.Error("the kinds are wrong")
	}
}

// FuzzParse: what is taken is written in one way only.
func FuzzParse(f *testing.F) {
	text, _ := boxtoken.New(boxtoken.Gateway, "acme")
	f.Add(text)
	f.Add("wavegate-edge:box-1:")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := boxtoken.Parse(text); ok && !strings.HasPrefix(text, string(got.Kind)+":"+got.Subject+":") {
			t.Errorf("%q was read as %+v", text, got)
		}
	})
}
