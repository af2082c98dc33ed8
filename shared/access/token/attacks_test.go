package token_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"wavegate/shared/access/token"
	"wavegate/shared/testing/tokentest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func verifier(t *testing.T, w tokentest.World) *token.Verifier {
	t.Helper()
	return verifierOf(t, w.Setting, w.Now)
}

func verifierOf(t testing.TB, setting string, now time.Time) *token.Verifier {
	t.Helper()
	issuers, err := token.ParseIssuers(setting)
	if err != nil {
		t.Fatal(err)
	}
	return token.New(issuers, token.Options{Now: func() time.Time { return now }})
}

// One subtest per attack, by its name; the list is tokentest's.
func TestVerify_Attack_IsRefused(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	for _, attack := range w.Attacks() {
		t.Run(attack.Name, func(t *testing.T) {
			p, err := v.Verify(t.Context(), attack.Token)
			r, ok := errors.AsType[*token.Refusal](err)
			if !ok {
				t.Fatalf("accepted as %+v, error %v", p, err)
			}
			if p.UserID != "" || p.Roles != nil {
				t.Errorf("a principal came with the refusal: %+v", p)
			}
			if r.Reason != attack.Class {
				t.Errorf("class %s, want %s (%v)", r.Reason, attack.Class, err)
			}
			if r.MayBecomeGood() != attack.MayBecomeGood {
				t.Errorf("MayBecomeGood: %v, want %v", r.MayBecomeGood(), attack.MayBecomeGood)
			}
		})
	}
}

func TestVerify_AttackNames_AreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, attack := range tokentest.NewWorld(noon).Attacks() {
		if seen[attack.Name] {
			t.Errorf("two attacks are called %q", attack.Name)
		}
		seen[attack.Name] = true
	}
}

// The refusal is logged, so it must not contain what a stranger wrote into a token.
func TestVerify_UnknownIssuer_IsNotInTheError(t *testing.T) {
	w := tokentest.NewWorld(noon)
	_, err := verifier(t, w).Verify(t.Context(), w.Person().With("iss", "https://thief.example").Sign())
	r, ok := errors.AsType[*token.Refusal](err)
	if !ok || r.Issuer != "" || strings.Contains(err.Error(), "thief") {
		t.Errorf("refusal %v of issuer %q", err, r.Issuer)
	}
}

func TestVerify_KnownIssuer_IsInTheError(t *testing.T) {
	w := tokentest.NewWorld(noon)
	_, err := verifier(t, w).Verify(t.Context(), w.Box().With("exp", 0).Sign())
	if r, ok := errors.AsType[*token.Refusal](err); !ok || r.Issuer != tokentest.Fleet {
		t.Errorf("error %v", err)
	}
}

func TestVerify_SameSubjectOfTwoIssuers_AreTwoUsers(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	person, err := v.Verify(t.Context(), w.Person().With("sub", "box-7").Sign())
	if err != nil {
		t.Fatal(err)
	}
	box, err := v.Verify(t.Context(), w.Box().With("sub", "box-7").Sign())
	if err != nil {
		t.Fatal(err)
	}
	if person.UserID != box.UserID || person.User() == box.User() {
		t.Errorf("users %q and %q", person.User(), box.User())
	}
}

func TestVerify_SameKeyIDOfTwoIssuers_IsTwoKeys(t *testing.T) {
	people, fleet := tokentest.NewES256("one"), tokentest.NewES256("one")
	setting := tokentest.JSON([]any{
		issuer(tokentest.People, tokentest.KeySet(people), "platform_owner"),
		issuer(tokentest.Fleet, tokentest.KeySet(fleet), "edge"),
	})
	w := tokentest.NewWorld(noon)
	v := verifierOf(t, setting, noon)
	_, err := v.Verify(t.Context(), w.Person().With("roles", "platform_owner").By(fleet).Sign())
	if r, ok := errors.AsType[*token.Refusal](err); !ok || r.Reason != token.BadSignature {
		t.Errorf("a person by the fleet's key: %v", err)
	}
	if _, err := v.Verify(t.Context(), w.Box().By(fleet).Sign()); err != nil {
		t.Errorf("a box by the fleet's key: %v", err)
	}
}
