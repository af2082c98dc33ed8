package token_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

func TestParseIssuers_GoodSetting_IsRead(t *testing.T) {
	issuers, err := token.ParseIssuers(`[
		{"issuer": "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab1", "clientIds": ["c1"],
		 "jwksUrl": "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab1/.well-known/jwks.json",
		 "organizationClaim": "custom:org", "rolesClaim": "cognito:groups", "grants": ["platform_owner", "organization_admin"]},
		{"issuer": "http://localhost:8081/realms/fleet", "audience": ["wavegate"],
		 "jwksUrl": "http://[::1]:8081/realms/fleet/certs", "grants": ["edge"], "maxLifetimeSeconds": 31536000}]`)
	expect.OK(t, err)
	expect.Must(t, len(issuers) == 2, "%d issuers", len(issuers))
	people, fleet := issuers[0], issuers[1]
	if people.OrganizationClaim.String() != "custom:org" || people.RolesClaim.String() != "cognito:groups" || people.ClientIDs[0] != "c1" ||
		len(people.Grants) != 2 || people.Grants[1] != auth.OrganizationAdmin {
		t.Errorf("people: %+v", people)
	}
	if fleet.OrganizationClaim.String() != "org" || fleet.RolesClaim.String() != "roles" || fleet.Audience[0] != "wavegate" ||
		fleet.JWKSURL != "http://[::1]:8081/realms/fleet/certs" {
		t.Errorf("fleet: %+v", fleet)
	}
	expect.That(t, people.MaxLifetime == 24*time.Hour && fleet.MaxLifetime == 365*24*time.Hour,
		"tokens last %v and %v", people.MaxLifetime, fleet.MaxLifetime)
}

// Each bad setting is refused at start. The message says where the fault is and what it is, so that it can be fixed
// without reading code.
func TestParseIssuers_BadSetting_IsRefusedWithItsPlace(t *testing.T) {
	w := tokentest.NewWorld(noon)
	good := func() map[string]any {
		return issuer(tokentest.People, tokentest.KeySet(w.PeopleES256), "platform_owner")
	}
	with := func(name string, value any) map[string]any {
		m := good()
		if value == nil {
			delete(m, name)
		} else {
			m[name] = value
		}
		return m
	}
	remote := func(url string) map[string]any {
		m := with("jwksUrl", url)
		delete(m, "jwks")
		return m
	}
	fleet := func(change func(map[string]any)) map[string]any {
		m := issuer(tokentest.Fleet, tokentest.KeySet(w.FleetKey), "edge")
		change(m)
		return m
	}
	private := `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"` + tokentest.Encode(make([]byte, 32)) + `","d":"c2VjcmV0"}]}`

	for name, c := range map[string]struct {
		setting string
		want    string
	}{
		"empty":               {"", "AUTH_ISSUERS: must be a JSON list of at least one issuer"},
		"not a list":          {tokentest.JSON(good()), "AUTH_ISSUERS: must be a JSON list of at least one issuer"},
		"no issuers":          {"[]", "AUTH_ISSUERS: must be a JSON list of at least one issuer"},
		"after the list":      {tokentest.JSON([]any{good()}) + "x", "AUTH_ISSUERS: must be a JSON list of at least one issuer"},
		"issuer is null":      {"[null]", "AUTH_ISSUERS[0]: is not a JSON object"},
		"a member twice":      {`[{"issuer":"https://a.example","issuer":"https://b.example"}]`, "AUTH_ISSUERS[0]: has two members of one name"},
		"unknown name":        {of(with("jwksURL", "x")), `AUTH_ISSUERS[0]: no setting has the name "jwksURL"`},
		"no issuer":           {of(with("issuer", nil)), "AUTH_ISSUERS[0].issuer: must be a string"},
		"issuer not a URL":    {of(with("issuer", "people")), "AUTH_ISSUERS[0].issuer: must be an absolute URL of at most 255 characters"},
		"issuer with space":   {of(with("issuer", "https://a.example/ b")), "AUTH_ISSUERS[0].issuer: must be an absolute URL"},
		"issuer not https":    {of(with("issuer", "http://a.example")), "AUTH_ISSUERS[0].issuer: must be https, or http to this machine"},
		"issuer twice":        {tokentest.JSON([]any{good(), good()}), "AUTH_ISSUERS[1].issuer: the same as that of AUTH_ISSUERS[0]"},
		"no audience":         {of(with("audience", nil)), "AUTH_ISSUERS[0].audience: missing, and so is clientIds"},
		"audience not a list": {of(with("audience", "wavegate")), "AUTH_ISSUERS[0].audience: must be a list of at least one string, none of them empty"},
		"audience empty":      {of(with("audience", []string{})), "AUTH_ISSUERS[0].audience: must be a list of at least one string"},
		"an empty client":     {of(with("clientIds", []string{""})), "AUTH_ISSUERS[0].clientIds: must be a list of at least one string"},
		"keys in two places":  {of(with("jwksUrl", "https://a.example/keys")), "AUTH_ISSUERS[0].jwksUrl: only one of jwksUrl and jwks may be set"},
		"keys over http":      {of(remote("http://a.example/keys")), "AUTH_ISSUERS[0].jwksUrl: must be https, or http to this machine"},
		"keys from a host named like this machine": {of(remote("http://127.0.0.1.a.example/keys")), "AUTH_ISSUERS[0].jwksUrl: must be https"},
		"keys from a file":                         {of(remote("file:///etc/keys")), "AUTH_ISSUERS[0].jwksUrl: must be an absolute URL"},
		"keys with a password":                     {of(remote("https://u:p@a.example/keys")), "AUTH_ISSUERS[0].jwksUrl: must have neither user info nor a fragment"},
		"keys not a key set":                       {of(with("jwks", []any{})), "AUTH_ISSUERS[0].jwks: must be a JWK Set"},
		"no usable key":                            {of(with("jwks", json.RawMessage(`{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}`))), "AUTH_ISSUERS[0].jwks: contains no usable key"},
		"a private key":                            {of(with("jwks", json.RawMessage(private))), "AUTH_ISSUERS[0].jwks: contains no usable key"},
		"organization claim empty":                 {of(with("organizationClaim", "")), "AUTH_ISSUERS[0].organizationClaim: must be the name of a claim that has no other meaning"},
		"roles claim with a reserved name":         {of(with("rolesClaim", "aud")), "AUTH_ISSUERS[0].rolesClaim: must be the name of a claim that has no other meaning"},
		"both claims the same":                     {of(with("rolesClaim", "org")), "AUTH_ISSUERS[0].rolesClaim: the same as organizationClaim"},
		"a path into nothing":                      {of(with("rolesClaim", "realm_access.")), "AUTH_ISSUERS[0].rolesClaim: must be the name of a claim"},
		"a path of no names":                       {of(with("rolesClaim", []string{})), "AUTH_ISSUERS[0].rolesClaim: must be the name of a claim"},
		"a path into a reserved claim":             {of(with("organizationClaim", "sub.org")), "AUTH_ISSUERS[0].organizationClaim: must be the name of a claim"},
		"no role of that name":                     {of(with("roleNames", map[string]any{"Admins": "root"})), `AUTH_ISSUERS[0].roleNames: "Admins": there is no role "root"`},
		"a role without a name":                    {of(with("roleNames", map[string]any{"": "platform_owner"})), "AUTH_ISSUERS[0].roleNames: a name is empty"},
		"no names of roles":                        {of(with("roleNames", map[string]any{})), "AUTH_ISSUERS[0].roleNames: must be an object"},
		"a name of a role that is not granted":     {of(with("roleNames", map[string]any{"Viewers": "fleet_viewer"})), `AUTH_ISSUERS[0].roleNames: "Viewers" is fleet_viewer, which grants does not list`},
		"an organization that is not an id":        {of(with("organization", "a/b")), "AUTH_ISSUERS[0].organization: must be the id of an organization"},
		"the organization and its claim":           {of(func() map[string]any { m := with("organization", "acme"); m["organizationClaim"] = "tid"; return m }()), "AUTH_ISSUERS[0].organization: it applies to every token, so organizationClaim must be left out"},
		"no grants":                                {of(with("grants", nil)), "AUTH_ISSUERS[0].grants: must be a list of at least one role"},
		"grants nothing":                           {of(with("grants", []string{})), "AUTH_ISSUERS[0].grants: must be a list of at least one role"},
		"grants an unknown role":                   {of(with("grants", []string{"root"})), `AUTH_ISSUERS[0].grants: there is no role "root"`},
		"grants the placeholder":                   {of(with("grants", []string{"(member)"})), `AUTH_ISSUERS[0].grants: there is no role "(member)"`},
		"grants a role twice":                      {of(with("grants", []string{"platform_owner", "platform_owner"})), "AUTH_ISSUERS[0].grants: platform_owner is listed twice"},
		"grants edge and another":                  {of(with("grants", []string{"edge", "platform_owner"})), "AUTH_ISSUERS[0].grants: an issuer that grants edge must grant nothing else"},
		"fleet and people share a key":             {tokentest.JSON([]any{good(), fleet(func(m map[string]any) { m["jwks"] = good()["jwks"] })}), "AUTH_ISSUERS[1]: only one of them grants edge, and it has a key in common with AUTH_ISSUERS[0]"},
		"fleet and people share a host":            {tokentest.JSON([]any{remote("https://a.example/keys"), fleet(func(m map[string]any) { delete(m, "jwks"); m["jwksUrl"] = "https://a.example/keys" })}), "AUTH_ISSUERS[1]: only one of them grants edge, and it has a key in common with AUTH_ISSUERS[0]"},
		"organizations not a list":                 {of(with("organizations", "acme")), "AUTH_ISSUERS[0].organizations: must be a list of at least one string"},
		"no organizations":                         {of(with("organizations", []string{})), "AUTH_ISSUERS[0].organizations: must be a list of at least one string"},
		"an invalid organization":                  {of(with("organizations", []string{"acme", "a/b"})), badOrganizations},
		"a prefix of everything":                   {of(with("organizations", []string{"*"})), badOrganizations},
		"a prefix in the middle of a word":         {of(with("organizations", []string{"acme*"})), badOrganizations},
		"a prefix without letters":                 {of(with("organizations", []string{"-*"})), badOrganizations},
		"a prefix and a name":                      {of(with("organizations", []string{"acme-*", "rival"})), badOrganizations},
		"two prefixes":                             {of(with("organizations", []string{"acme-*", "rival-*"})), badOrganizations},
		"a star in the middle":                     {of(with("organizations", []string{"a*b-*"})), badOrganizations},
		"the fleet's organizations":                {of(fleet(func(m map[string]any) { m["organizations"] = []string{"acme"} })), "AUTH_ISSUERS[0].organizations: an issuer that grants edge speaks for boxes, so it must have no organizations"},
		"the fleet's lifetime is missing":          {of(fleet(func(m map[string]any) { delete(m, "maxLifetimeSeconds") })), "AUTH_ISSUERS[0].maxLifetimeSeconds: an issuer that grants edge must set it"},
		"a lifetime of 0":                          {of(with("maxLifetimeSeconds", 0)), badLifetime},
		"a lifetime of a century":                  {of(with("maxLifetimeSeconds", 3_155_760_000)), badLifetime},
		"a lifetime as text":                       {of(with("maxLifetimeSeconds", "86400")), badLifetime},
		"a lifetime with a fraction":               {of(with("maxLifetimeSeconds", 1.5)), badLifetime},
		"a lifetime of null":                       {of(with("maxLifetimeSeconds", json.RawMessage("null"))), badLifetime},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, c.setting, c.want)
		})
	}
}

// refuses checks that a setting is refused, with its fault and without its keys.
func refuses(t *testing.T, setting, want string) {
	t.Helper()
	issuers, err := token.ParseIssuers(setting)
	expect.Equal(t, issuers, nil, "the issuers")
	expect.That(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "c2VjcmV0"),
		"error %v, want %q and no key", err, want)
}

const (
	badOrganizations = "AUTH_ISSUERS[0].organizations: must be names of organizations, or one prefix that ends in -, . or _ followed by a *"
	badLifetime      = "AUTH_ISSUERS[0].maxLifetimeSeconds: must be a whole number from 1 to 316224000"
)

// TestParseIssuers_SeveralIssuersOfPeople_MustNotShareOrganizations: each names its own
// organizations.
func TestParseIssuers_SeveralIssuersOfPeople_MustNotShareOrganizations(t *testing.T) {
	w := tokentest.NewWorld(noon)
	const (
		nameThem = "AUTH_ISSUERS[1].organizations: each of several issuers of people must name its own; so must AUTH_ISSUERS[0]"
		overlap  = "AUTH_ISSUERS[1].organizations: overlap with those of AUTH_ISSUERS[0]"
		onlyOne  = "AUTH_ISSUERS[1].grants: only one issuer may grant platform_owner or platform_viewer, as does AUTH_ISSUERS[0]"
	)
	for name, c := range map[string]struct {
		a, b   []string // organizations; nil: not named
		grants [2]string
		want   string // empty if accepted
	}{
		"names":                              {[]string{"acme", "wavegate"}, []string{"rival"}, [2]string{"platform_owner", "organization_admin"}, ""},
		"a name and a prefix":                {[]string{"initech"}, []string{"initech-*"}, [2]string{"platform_owner", "organization_admin"}, ""},
		"two prefixes":                       {[]string{"acme-*"}, []string{"acme.*"}, [2]string{"production_engineer", "organization_admin"}, ""},
		"names in another case":              {[]string{"acme"}, []string{"ACME"}, [2]string{"platform_owner", "organization_admin"}, ""},
		"no issuer names organizations":      {nil, nil, [2]string{"platform_owner", "organization_admin"}, nameThem},
		"the first names no organizations":   {nil, []string{"rival"}, [2]string{"platform_owner", "organization_admin"}, nameThem},
		"the second names no organizations":  {[]string{"acme"}, nil, [2]string{"platform_owner", "organization_admin"}, nameThem},
		"a name of both":                     {[]string{"acme", "rival"}, []string{"rival"}, [2]string{"platform_owner", "organization_admin"}, overlap},
		"a name that has the other's prefix": {[]string{"acme-*"}, []string{"acme-munich"}, [2]string{"platform_owner", "organization_admin"}, overlap},
		"a prefix that has the other's name": {[]string{"acme-munich"}, []string{"acme-*"}, [2]string{"platform_owner", "organization_admin"}, overlap},
		"a prefix within the other's":        {[]string{"acme-*"}, []string{"acme-munich-*"}, [2]string{"platform_owner", "organization_admin"}, overlap},
		"the same prefix":                    {[]string{"acme-*"}, []string{"acme-*"}, [2]string{"platform_owner", "organization_admin"}, overlap},
		"two platform owners":                {[]string{"acme"}, []string{"rival"}, [2]string{"platform_owner", "platform_owner"}, onlyOne},
		"a platform owner and a viewer":      {[]string{"acme"}, []string{"rival"}, [2]string{"platform_owner", "platform_viewer"}, onlyOne},
		"an owner and a customer's viewer":   {[]string{"acme"}, []string{"rival"}, [2]string{"platform_owner", "fleet_viewer"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := issuer("https://a.example", tokentest.KeySet(w.PeopleES256), c.grants[0])
			b := issuer("https://b.example", tokentest.KeySet(w.CustomerKey), c.grants[1])
			for m, organizations := range map[*map[string]any][]string{&a: c.a, &b: c.b} {
				if organizations != nil {
					(*m)["organizations"] = organizations
				}
			}
			fleet := issuer(tokentest.Fleet, tokentest.KeySet(w.FleetKey), "edge")
			_, err := token.ParseIssuers(of(a, b, fleet))
			expect.Error(t, err, c.want, "got")
		})
	}
}

func of(issuers ...any) string { return tokentest.JSON(issuers) }

func TestParseIssuers_ManyFaults_AreNamedTogether(t *testing.T) {
	_, err := token.ParseIssuers(`[{"issuer":"x","grants":["root"]},{"issuer":"https://a.example","audience":["a"],"jwks":{},"grants":["edge"]}]`)
	expect.Must(t, err != nil, "accepted")
	for _, want := range []string{
		"AUTH_ISSUERS[0].issuer:", "AUTH_ISSUERS[0].audience:", "AUTH_ISSUERS[0].grants:", "AUTH_ISSUERS[1].jwks:",
	} {
		expect.That(t, strings.Contains(err.Error(), want), "%q is not named in %q", want, err)
	}
}

// Two issuers of people may share keys, as the tenants of one provider do.
func TestParseIssuers_TwoIssuersOfPeople_MayShareKeys(t *testing.T) {
	w := tokentest.NewWorld(noon)
	set := tokentest.KeySet(w.PeopleES256)
	a, b := issuer("https://login.example/a", set, "platform_owner"), issuer("https://login.example/b", set, "organization_admin")
	a["organizations"], b["organizations"] = []string{"acme"}, []string{"rival"}
	_, err := token.ParseIssuers(of(a, b))
	expect.That(t, err == nil, "%v", err)
}
