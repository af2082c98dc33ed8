package token_test

import (
	"errors"
	"testing"

	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

// For any input, the verifier must return a refusal with a class, and must not panic. No fuzzer
// can forge a signature.
func FuzzVerify(f *testing.F) {
	w := tokentest.NewWorld(noon)
	for _, attack := range w.Attacks() {
		f.Add(attack.Token)
	}
	v := verifierOf(f, w.Setting, noon)
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := v.Verify(t.Context(), raw)
		r, ok := errors.AsType[*token.Refusal](err)
		expect.Must(t, ok, "accepted %q as %+v, error %v", raw, p, err)
		expect.Must(t, r.Reason != "" && r.Error() != "", "%q was refused without a class", raw)
	})
}

// Signed claims can be hostile too, if the issuer lets people choose them. Every accepted token
// must give a valid principal.
func FuzzVerify_SignedClaims(f *testing.F) {
	w := tokentest.NewWorld(noon)
	f.Add(tokentest.JSON(w.Person().Claims))
	f.Add(tokentest.JSON(w.Box().Claims))
	f.Add(`{"iss":"https://people.example","aud":"wavegate","sub":"a","exp":99999999999,"roles":["edge"],"org":"-"}`)
	f.Add(`{"iss":"https://people.example","client_id":"the-app","token_use":"access","sub":"a","exp":1e11}`)
	v := verifierOf(f, w.Setting, noon)
	header := tokentest.JSON(w.Person().Header)
	f.Fuzz(func(t *testing.T, claims string) {
		p, err := v.Verify(t.Context(), w.PeopleES256.SignText(header, claims))
		if err != nil {
			_, ok := errors.AsType[*token.Refusal](err)
			expect.Must(t, ok, "error %v is not a refusal", err)
			return
		}
		if p.Issuer != tokentest.People || p.UserID == "" || len(p.UserID) > 255 || len(p.OrganizationID) > 64 ||
			p.Expired(noon) || p.Has("edge") {
			t.Fatalf("%q was accepted as %+v", claims, p)
		}
	})
}

// Any setting must be refused with a reason or give usable issuers. An issuer that grants edge
// must grant nothing else.
func FuzzParseIssuers(f *testing.F) {
	f.Add(tokentest.NewWorld(noon).Setting)
	f.Add(`[{"issuer":"https://a.example","audience":["a"],"jwksUrl":"http://localhost/","grants":["edge","platform_owner"]}]`)
	f.Add(`[{"issuer":"https://a.example","audience":["a"],"jwks":{"keys":[{}]},"grants":["edge"]}]`)
	f.Fuzz(func(t *testing.T, setting string) {
		issuers, err := token.ParseIssuers(setting)
		if err != nil {
			expect.Must(t, err.Error() != "", "refused without a reason")
			return
		}
		for _, i := range issuers {
			expect.Must(t, i.Name != "" && len(i.Audience)+len(i.ClientIDs) != 0 && len(i.Grants) != 0,
				"%q was read as %+v", setting, i)
			for _, role := range i.Grants {
				if role == "edge" && len(i.Grants) > 1 {
					t.Fatalf("%q grants %v", setting, i.Grants)
				}
			}
		}
		token.New(issuers, token.Options{})
	})
}
