package token_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

func issuer(name, keySet string, grants ...string) map[string]any {
	i := map[string]any{
		"issuer": name, "audience": []string{tokentest.Audience}, "jwks": json.RawMessage(keySet), "grants": grants,
	}
	if slices.Contains(grants, "edge") {
		i["maxLifetimeSeconds"] = 86400
	}
	return i
}

func TestVerify_GoodToken_GivesThePrincipal(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	in := func(d time.Duration) int64 { return noon.Add(d).Unix() }
	person := auth.Principal{
		Issuer: tokentest.People, UserID: "ada", OrganizationID: "acme",
		Roles: []auth.Role{auth.ProductionEngineer}, Expires: noon.Add(time.Hour),
	}
	as := func(change func(*auth.Principal)) auth.Principal { p := person; change(&p); return p }
	for name, c := range map[string]struct {
		draft tokentest.Draft
		want  auth.Principal
	}{
		"ES256":                    {w.Person(), person},
		"RS256":                    {w.Person().By(w.PeopleRS256), person},
		"EdDSA":                    {w.Person().By(w.PeopleEdDSA), person},
		"no typ":                   {w.Person().WithHeader("typ", nil), person},
		"typ as a full media type": {w.Person().WithHeader("typ", "application/AT+JWT"), person},
		"further header members":   {w.Person().WithHeader("x5t", "abc"), person},
		"token_use access":         {w.Person().With("token_use", "access"), person},
		"one of many audiences":    {w.Person().With("aud", []string{"billing", tokentest.Audience}), person},
		"client_id as Cognito sends it": {
			w.Person().With("aud", nil).With("client_id", tokentest.Client).With("token_use", "access"), person},
		"exp within the leeway": {w.Person().With("exp", in(-29*time.Second)),
			as(func(p *auth.Principal) { p.Expires = noon.Add(-29 * time.Second) })},
		"exp with a fraction is rounded down": {w.Person().With("exp", float64(in(time.Hour))+0.9), person},
		"nbf and iat within the leeway":       {w.Person().With("nbf", in(30*time.Second)).With("iat", in(30*time.Second)), person},
		"no iat":                              {w.Person().With("iat", nil), person},
		"a day, the longest for a person": {w.Person().With("exp", in(24*time.Hour)),
			as(func(p *auth.Principal) { p.Expires = noon.Add(24 * time.Hour) })},
		"the longest without iat": {w.Person().With("iat", nil).With("exp", in(24*time.Hour+30*time.Second)),
			as(func(p *auth.Principal) { p.Expires = noon.Add(24*time.Hour + 30*time.Second) })},
		"a customer's organization by its own issuer": {w.Employee(), as(func(p *auth.Principal) {
			p.Issuer, p.UserID, p.OrganizationID = tokentest.Customer, "peter", "initech-austin"
		})},
		"a person of no organization, where organizations are named": {w.Employee().With("org", nil), as(func(p *auth.Principal) {
			p.Issuer, p.UserID, p.OrganizationID = tokentest.Customer, "peter", ""
		})},
		"roles in a string": {w.Person().With("roles", " production_engineer  organization_admin "),
			as(func(p *auth.Principal) { p.Roles = []auth.Role{auth.OrganizationAdmin, auth.ProductionEngineer} })},
		"a role twice":            {w.Person().With("roles", "production_engineer production_engineer"), person},
		"roles of other services": {w.Person().With("roles", []string{"(member)", "production_engineer", "Platform_Owner", "admin"}), person},
		"no roles":                {w.Person().With("roles", nil), as(func(p *auth.Principal) { p.Roles = nil })},
		"no organization":         {w.Person().With("org", nil), as(func(p *auth.Principal) { p.OrganizationID = "" })},
		"an empty organization":   {w.Person().With("org", ""), as(func(p *auth.Principal) { p.OrganizationID = "" })},
		"organization null": {w.Person().With("org", json.RawMessage("null")),
			as(func(p *auth.Principal) { p.OrganizationID = "" })},
		"subject of 255 characters": {w.Person().With("sub", strings.Repeat("s", 255)),
			as(func(p *auth.Principal) { p.UserID = strings.Repeat("s", 255) })},
		"subject as Auth0 sends it": {w.Person().With("sub", "auth0|5f7c"), as(func(p *auth.Principal) { p.UserID = "auth0|5f7c" })},
		"box": {w.Box(), auth.Principal{
			Issuer: tokentest.Fleet, UserID: "box-7", OrganizationID: "acme",
			Roles: []auth.Role{auth.Edge}, Expires: noon.Add(time.Hour),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := expect.Value(v.Verify(t.Context(), c.draft.Sign()))(t)
			expect.Equal(t, got, c.want, "the principal")
		})
	}
}

func TestVerify_NamesOfClaims_AreSettings(t *testing.T) {
	w := tokentest.NewWorld(noon)
	setting := issuer(tokentest.People, tokentest.KeySet(w.PeopleES256), "platform_owner")
	setting["organizationClaim"], setting["rolesClaim"] = "custom:tenant", "cognito:groups"
	v := verifierOf(t, tokentest.JSON([]any{setting}), noon)
	draft := w.Person().With("custom:tenant", "initech").With("cognito:groups", []string{"eu-west-1_Google", "platform_owner"})
	p := expect.Value(v.Verify(t.Context(), draft.Sign()))(t)
	expect.That(t, p.OrganizationID == "initech" && reflect.DeepEqual(p.Roles, []auth.Role{auth.PlatformOwner}),
		"got %+v", p)
}

func TestVerify_KeyIDOf128Characters_IsAccepted(t *testing.T) {
	key := tokentest.NewES256(strings.Repeat("k", 128))
	setting := tokentest.JSON([]any{issuer(tokentest.People, tokentest.KeySet(key), "production_engineer")})
	w := tokentest.NewWorld(noon)
	_, err := verifierOf(t, setting, noon).Verify(t.Context(), w.Person().By(key).Sign())
	expect.That(t, err == nil, "%v", err)
}

func TestVerify_TokenOfExactly8KiB_IsAccepted(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	var sizes []int
	for n := 5500; n < 6200; n++ {
		raw := w.Person().With("note", strings.Repeat("x", n)).Sign()
		_, err := v.Verify(t.Context(), raw)
		if len(raw) <= 8192 && err != nil {
			t.Fatalf("%d bytes: %v", len(raw), err)
		}
		r, refused := errors.AsType[*token.Refusal](err)
		if len(raw) > 8192 && (!refused || r.Reason != token.TooLarge) {
			t.Fatalf("%d bytes: %v", len(raw), err)
		}
		sizes = append(sizes, len(raw))
	}
	if sizes[0] > 8192 || sizes[len(sizes)-1] <= 8192 {
		t.Fatalf("sizes %d to %d do not include the limit", sizes[0], sizes[len(sizes)-1])
	}
}

// If any byte of a good token is changed, it is refused, or it is still the same token.
func TestVerify_AnyByteChanged_IsRefused(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	good := []string{w.Person().Sign(), w.Person().By(w.PeopleRS256).Sign(), w.Person().By(w.PeopleEdDSA).Sign(), w.Box().Sign()}
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(rapid.SampledFrom(good).Draw(t, "token"))
		before := string(raw)
		raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		if _, err := v.Verify(t.Context(), string(raw)); err == nil && string(raw) != before {
			t.Fatalf("accepted %s, changed from %s", raw, before)
		}
	})
}
