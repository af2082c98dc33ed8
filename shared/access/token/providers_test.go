package token_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

// A recipe is a section of providers.md: a setting, a token of the provider's shape, and the caller that it becomes.
type recipe struct {
	name            string
	setting, claims map[string]any
	user, org       string
	roles           []auth.Role
}

var (
	section = regexp.MustCompile("(?s)\n## ([^\n]+)\n\n```json\n(.+?)\n```\n\n```json\n(.+?)\n```\n\nCaller: `([^`]+)`(?: of `([^`]+)`)?: ([^\n]+)\n")
	quoted  = regexp.MustCompile("`([^`]+)`")
)

func recipes(t *testing.T) (all []recipe) {
	t.Helper()
	page := expect.Value(os.ReadFile("../providers.md"))(t)
	for _, m := range section.FindAllStringSubmatch(string(page), -1) {
		r := recipe{name: m[1], user: m[4], org: m[5]}
		for _, role := range quoted.FindAllStringSubmatch(m[6], -1) {
			r.roles = append(r.roles, auth.Role(role[1]))
		}
		for text, into := range map[string]*map[string]any{m[2]: &r.setting, m[3]: &r.claims} {
			err := json.Unmarshal([]byte(text), into)
			expect.Must(t, err == nil, "%s: %v", r.name, err)
		}
		all = append(all, r)
	}
	headings := strings.Count(string(page), "\n## ")
	expect.Must(t, len(all) == headings && len(all) >= 3, "%d of %d sections are recipes", len(all), headings)
	return all
}

// draft is a token of the recipe's shape that the key signs, an hour long from noon on.
func (r recipe) draft(key tokentest.Key) tokentest.Draft {
	d := tokentest.Draft{Header: map[string]any{"typ": "JWT"}, Claims: r.claims}.By(key)
	if r.claims["nbf"] != nil {
		d = d.With("nbf", noon.Unix())
	}
	return d.With("iat", noon.Unix()).With("exp", noon.Unix()+3600)
}

func (r recipe) verifier(t *testing.T, key tokentest.Key) *token.Verifier {
	t.Helper()
	delete(r.setting, "jwksUrl")
	r.setting["jwks"] = json.RawMessage(tokentest.KeySet(key))
	return verifierOf(t, tokentest.JSON([]any{r.setting}), noon)
}

func TestProviders_TokenOfEach_BecomesTheCallerOfThePage(t *testing.T) {
	for _, r := range recipes(t) {
		key := tokentest.NewRS256("provider", 2048)
		p, err := r.verifier(t, key).Verify(t.Context(), r.draft(key).Sign())
		expect.That(t, err == nil && p.UserID == r.user && p.OrganizationID == r.org && slices.Equal(p.Roles, r.roles),
			"%s: %+v, %v", r.name, p, err)
	}
}

// TestProviders_SettingOfThePage_NeedsNoKeys: each provider publishes where its keys are.
func TestProviders_SettingOfThePage_NeedsNoKeys(t *testing.T) {
	for _, r := range recipes(t) {
		_, err := token.ParseIssuers(tokentest.JSON([]any{r.setting}))
		expect.That(t, err == nil, "%s: %v", r.name, err)
	}
}

// TestProviders_WhatTheSettingDoesNotSay_CountsForNothing, or it is refused.
func TestProviders_WhatTheSettingDoesNotSay_CountsForNothing(t *testing.T) {
	key := tokentest.NewES256("provider")
	for _, r := range recipes(t) {
		v := r.verifier(t, key)
		claim := []string{"roles"}
		if path, ok := r.setting["rolesClaim"].(string); ok {
			claim = strings.Split(path, ".")
		}
		put := func(roles any) tokentest.Draft {
			if len(claim) == 2 {
				return r.draft(key).With(claim[0], map[string]any{claim[1]: roles})
			}
			return r.draft(key).With(claim[0], roles)
		}
		// Our own name for a role, in the claim of another provider.
		p, err := v.Verify(t.Context(), put("administrator").With("role", "platform_owner").With("org", "rival").Sign())
		// A box's token is refused without its role.
		if box := slices.Contains(r.roles, auth.Edge); (err != nil) != box || len(p.Roles) != 0 || p.OrganizationID != r.org {
			t.Errorf("%s, roles elsewhere: %+v, %v", r.name, p, err)
		}
		if r.setting["roleNames"] != nil {
			p := expect.Value(v.Verify(t.Context(), put([]string{"platform_owner", "edge"}).Sign()))(t)
			expect.Equal(t, len(p.Roles), 0, "%s, a name that is not the provider's: %+v", r.name, p)
		}
		for _, roles := range []any{7, map[string]any{"a": "b"}, []any{"x", 1}} {
			p, err := v.Verify(t.Context(), put(roles).Sign())
			expect.That(t, err != nil, "%s, roles %v: %+v", r.name, roles, p)
		}
		if p, err := v.Verify(t.Context(), r.draft(key).With("aud", "account").Sign()); err == nil {
			t.Errorf("%s, for another service: %+v", r.name, p)
		}
	}
}

func TestVerify_Claims_AreFoundByTheirPaths(t *testing.T) {
	w := tokentest.NewWorld(noon)
	owner := []string{"platform_owner"}
	for name, c := range map[string]struct {
		claim any // of the setting
		token map[string]any
		roles int // -1: refused
	}{
		"a member":                        {"realm_access.roles", map[string]any{"realm_access": map[string]any{"roles": owner}}, 1},
		"two members deep":                {"resource_access.wavegate.roles", map[string]any{"resource_access": map[string]any{"wavegate": map[string]any{"roles": owner}}}, 1},
		"a path is not a name":            {"realm_access.roles", map[string]any{"realm_access.roles": owner}, 0},
		"a name of a URL":                 {"https://acme.example/roles", map[string]any{"https://acme.example/roles": owner}, 1},
		"a name with a dot, as a list":    {[]string{"resource_access", "my.client", "roles"}, map[string]any{"resource_access": map[string]any{"my.client": map[string]any{"roles": owner}}}, 1},
		"nothing there":                   {"realm_access.roles", nil, 0},
		"null on the way":                 {"realm_access.roles", map[string]any{"realm_access": nil}, 0},
		"null at the end":                 {"realm_access.roles", map[string]any{"realm_access": map[string]any{"roles": nil}}, 0},
		"a text on the way":               {"realm_access.roles", map[string]any{"realm_access": "platform_owner"}, -1},
		"a list on the way":               {"realm_access.roles", map[string]any{"realm_access": owner}, -1},
		"a member twice, on the way":      {"realm_access.roles", map[string]any{"realm_access": json.RawMessage(`{"roles":[],"roles":["platform_owner"]}`)}, -1},
		"a role that it may not grant":    {"realm_access.roles", map[string]any{"realm_access": map[string]any{"roles": []string{"edge"}}}, -1},
		"the last member is of a subpath": {"realm_access.roles.more", map[string]any{"realm_access": map[string]any{"roles": owner}}, -1},
	} {
		setting := issuer(tokentest.People, tokentest.KeySet(w.PeopleES256), "platform_owner")
		setting["rolesClaim"] = c.claim
		draft := w.Person().With("roles", nil)
		for name, value := range c.token {
			draft.Claims[name] = value
		}
		p, err := verifierOf(t, tokentest.JSON([]any{setting}), noon).Verify(t.Context(), draft.Sign())
		expect.That(t, (err != nil) == (c.roles < 0) && len(p.Roles) == max(c.roles, 0), "%s: %+v, %v", name, p, err)
	}
}

func TestVerify_Organizations_OfAList_MustBeOne(t *testing.T) {
	w := tokentest.NewWorld(noon)
	v := verifier(t, w)
	for name, c := range map[string]struct {
		org  any
		want string // "-": refused
	}{
		"one":       {[]string{"acme"}, "acme"},
		"none":      {[]string{}, ""},
		"two":       {[]string{"acme", "rival"}, "-"},
		"not an id": {[]string{"a/b"}, "-"},
		"no text":   {[]any{1}, "-"},
		"an object": {map[string]any{"acme": map[string]any{}}, "-"},
	} {
		p, err := v.Verify(t.Context(), w.Person().With("org", c.org).Sign())
		if (err != nil) != (c.want == "-") || err == nil && p.OrganizationID != c.want {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestVerify_KeysByDiscovery: only the issuer's own description says where its keys are.
func TestVerify_KeysByDiscovery(t *testing.T) {
	key := tokentest.NewES256("one")
	for name, c := range map[string]struct {
		describes string // what follows the server's URL in the description's issuer
		keysAt    string
		status    int
		good      bool
	}{
		"its own":            {"/realms/a", "/keys", 200, true},
		"another issuer's":   {"/realms/b", "/keys", 200, false},
		"a slash more":       {"/realms/a/", "/keys", 200, false},
		"keys not by https":  {"/realms/a", "http://keys.example/keys", 200, false},
		"no keys":            {"/realms/a", "", 200, false},
		"out of order":       {"/realms/a", "/keys", 503, false},
		"a redirect":         {"/realms/a", "/keys", 302, false},
		"keys that are none": {"/realms/a", "/realms/a/.well-known/openid-configuration", 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/realms/a/.well-known/openid-configuration":
					keys := c.keysAt
					if strings.HasPrefix(keys, "/") {
						keys = server.URL + keys
					}
					w.Header().Set("Location", "/described")
					w.WriteHeader(c.status)
					_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, server.URL+c.describes, keys)
				case "/keys":
					_, _ = fmt.Fprint(w, tokentest.KeySet(key))
				}
			}))
			defer server.Close()
			setting := issuer(server.URL+"/realms/a", "null", "production_engineer")
			delete(setting, "jwks")
			v := verifierOf(t, tokentest.JSON([]any{setting}), noon)
			p, err := v.Verify(t.Context(), tokentest.NewWorld(noon).Person().With("iss", server.URL+"/realms/a").By(key).Sign())
			if (err == nil) != c.good || c.good && p.UserID != "ada" {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}
