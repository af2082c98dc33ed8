package token_test

import (
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func verifier(t *testing.T, w tokentest.World) *token.Verifier {
	t.Helper()
	return verifierOf(t, w.Setting, w.Now)
}

func verifierOf(t testing.TB, setting string, now time.Time) *token.Verifier {
	t.Helper()
	issuers := expect.Value(token.ParseIssuers(setting))(t)
	return token.New(issuers, token.Options{Now: func() time.Time { return now }})
}

// reasonOf is the class of a refusal, or "" if there is no error.
func reasonOf(err error) token.RefusalReason {
	if r, ok := errors.AsType[*token.Refusal](err); ok || err == nil {
		return cmp.Or(r, &token.Refusal{}).Reason
	}
	return token.RefusalReason("not a refusal: " + err.Error())
}

// One subtest per attack, by its name; the list is tokentest's.
func TestVerify_Attack_IsRefused(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	seen := map[string]bool{}
	for _, attack := range w.Attacks() {
		expect.Equal(t, seen[attack.Name], false, "another attack is called %s:", attack.Name)
		seen[attack.Name] = true
		t.Run(attack.Name, func(t *testing.T) {
			p, err := v.Verify(t.Context(), attack.Token)
			r, ok := errors.AsType[*token.Refusal](err)
			expect.Must(t, ok, "accepted as %+v, error %v", p, err)
			expect.Equal(t, p, auth.Principal{}, "the principal beside the refusal")
			expect.Equal(t, r.Reason, attack.Class, "%v: the class is", err)
			expect.Equal(t, r.MayBecomeGood(), attack.MayBecomeGood, "MayBecomeGood is")
		})
	}
}

// The refusal is logged, so it must not contain what a stranger wrote into a token.
func TestVerify_Refusal_NamesAKnownIssuerOnly(t *testing.T) {
	w := tokentest.NewWorld(noon)
	for draft, issuer := range map[*tokentest.Draft]string{
		new(w.Person().With("iss", "https://thief.example")): "",
		new(w.Box().With("exp", 0)):                          tokentest.Fleet,
	} {
		_, err := verifier(t, w).Verify(t.Context(), draft.Sign())
		r, ok := errors.AsType[*token.Refusal](err)
		if !ok || r.Issuer != issuer || strings.Contains(err.Error(), "thief") {
			t.Errorf("refusal %v of issuer %q, want %q", err, r.Issuer, issuer)
		}
	}
}

func TestVerify_SameSubjectOfTwoIssuers_AreTwoUsers(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	person := expect.Value(v.Verify(t.Context(), w.Person().With("sub", "box-7").Sign()))(t)
	box := expect.Value(v.Verify(t.Context(), w.Box().With("sub", "box-7").Sign()))(t)
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
	expect.Equal(t, reasonOf(err), token.BadSignature, "a person by the fleet's key is refused as")
	_, err = v.Verify(t.Context(), w.Box().By(fleet).Sign())
	expect.Equal(t, reasonOf(err), "", "a box by the fleet's key is refused as")
}
