package auth_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestHas_OneOfTheRolesIsEnough(t *testing.T) {
	p := auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.ProductionEngineer}}
	expect.That(t, p.Has(auth.OrganizationAdmin, auth.ProductionEngineer),
		"an engineer is refused where engineers are allowed")
	expect.That(t, !p.Has(auth.PlatformOwner, auth.OrganizationAdmin),
		"an engineer is allowed where only others should be")
	expect.That(t, !p.Has(), "allowed where nobody is")
}

func TestHas_Member_IsAnyPersonOfAnOrganization(t *testing.T) {
	for name, c := range map[string]struct {
		p    auth.Principal
		want bool
	}{
		"person without a role":           {auth.Principal{OrganizationID: "acme"}, true},
		"person with a role":              {auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.OrganizationAdmin}}, true},
		"person without an organization":  {auth.Principal{}, false},
		"owner without an organization":   {auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}, false},
		"box of an organization":          {auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.Edge}}, false},
		"viewer of the fleet":             {auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.FleetViewer}}, false},
		"viewer of the platform":          {auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.PlatformViewer}}, false},
		"viewer and engineer":             {auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.FleetViewer, auth.ProductionEngineer}}, true},
		"no token can carry it as a role": {auth.Principal{Roles: []auth.Role{auth.Member}}, false},
		"a box cannot carry it as a role": {auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.Edge, auth.Member}}, false},
	} {
		expect.Equal(t, c.p.Has(auth.Member), c.want, "%s", name)
	}
}

func TestOwnsAndMayRead(t *testing.T) {
	owner := []auth.Role{auth.PlatformOwner}
	for name, c := range map[string]struct {
		p             auth.Principal
		organization  string
		owns, mayRead bool
	}{
		"own organization":                         {auth.Principal{OrganizationID: "acme"}, "acme", true, true},
		"another's":                                {auth.Principal{OrganizationID: "acme"}, "rival", false, false},
		"in another case":                          {auth.Principal{OrganizationID: "acme"}, "ACME", false, false},
		"no organization and no organization":      {auth.Principal{}, "", false, false},
		"platform owner reads, but does not own":   {auth.Principal{Roles: owner}, "acme", false, true},
		"platform owner of another organization":   {auth.Principal{OrganizationID: "rival", Roles: owner}, "acme", false, true},
		"platform owner and an empty organization": {auth.Principal{Roles: owner}, "", false, true},
	} {
		expect.Equal(t, c.p.Owns(c.organization), c.owns, "%s: owns", name)
		expect.Equal(t, c.p.MayRead(c.organization), c.mayRead, "%s: may read", name)
	}
}

func TestMaySee_AViewerOfAnOrganization_SeesThatOneAlone(t *testing.T) {
	for name, c := range map[string]struct {
		organization string
		roles        []auth.Role
		all          bool
		only         string
	}{
		"an owner":                             {"wavegate", []auth.Role{auth.PlatformOwner}, true, ""},
		"a viewer of the platform":             {"wavegate", []auth.Role{auth.PlatformViewer}, true, ""},
		"a viewer of the platform, of none":    {"", []auth.Role{auth.PlatformViewer}, true, ""},
		"a viewer without an organization":     {"", []auth.Role{auth.FleetViewer}, true, ""},
		"a viewer of an organization":          {"acme", []auth.Role{auth.FleetViewer}, false, "acme"},
		"an admin":                             {"acme", []auth.Role{auth.OrganizationAdmin}, false, "acme"},
		"an admin and viewer without any":      {"", []auth.Role{auth.OrganizationAdmin, auth.FleetViewer}, true, ""},
		"an admin of no organization":          {"", []auth.Role{auth.OrganizationAdmin}, false, ""},
		"an admin who also views the platform": {"acme", []auth.Role{auth.OrganizationAdmin, auth.PlatformViewer}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := auth.Principal{OrganizationID: c.organization, Roles: c.roles}
			expect.Equal(t, p.SeesAll(), c.all, "sees all")
			expect.Equal(t, p.Only(), c.only, "sees only")
			expect.Equal(t, p.MaySee("acme"), c.all || c.only == "acme", "may see acme")
			expect.Equal(t, p.MaySee("rival"), c.all, "may see rival")
			expect.Equal(t, p.MaySee(""), c.all, "may see what has no organization")
			arrived, err := auth.FromContext(auth.Principal{Issuer: "i", UserID: "u", OrganizationID: c.organization, Roles: c.roles}.Context())
			expect.OK(t, err)
			expect.Equal(t, arrived.SeesAll(), c.all, "sees all in a function")
		})
	}
}

func TestExpired_IsJudgedWithTheLeeway(t *testing.T) {
	for after, want := range map[time.Duration]bool{
		-time.Hour: false, 0: false, auth.Leeway - time.Nanosecond: false, auth.Leeway: true, time.Hour: true,
	} {
		expect.Equal(t, (auth.Principal{Expires: noon}).Expired(noon.Add(after)), want, "%v after exp", after)
	}
}

func TestUser_DifferentPairs_NeverHaveOneName(t *testing.T) {
	for _, c := range [][4]string{
		{"https://a.example", "vic 1", "https://a.example vic", "1"},
		{"https://a.example vic", "1", "https://a.example%20vic", "1"},
		{"https://a.example%20vic", "1", "https://a.example%2520vic", "1"},
		{"", " x", " ", "x"},
	} {
		if a, b := auth.User(c[0], c[1]), auth.User(c[2], c[3]); a == b {
			t.Errorf("%q of %q and %q of %q are both %q", c[1], c[0], c[3], c[2], a)
		}
	}
}

// Stored limits contain the names of users whose issuer is a URL, so these names must not
// change.
func TestUser_IssuerIsAURL_IsIssuerSpaceID(t *testing.T) {
	expect.Equal(t, auth.User("https://people.example/realms/a", "auth0|5 f%7c"), "https://people.example/realms/a auth0|5 f%7c", "got")
}

func TestUser_DifferentCallers_Differ(t *testing.T) {
	issuer := rapid.StringMatching(`[a %2-5]{0,6}`)
	subject := rapid.StringMatching(`[a %2-5]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a := auth.Principal{Issuer: issuer.Draw(t, "issuer"), UserID: subject.Draw(t, "user")}
		b := auth.Principal{Issuer: issuer.Draw(t, "other issuer"), UserID: subject.Draw(t, "other user")}
		if same := a.Issuer == b.Issuer && a.UserID == b.UserID; same != (a.User() == b.User()) {
			t.Fatalf("%+v is %q, %+v is %q", a, a.User(), b, b.User())
		}
	})
}

func TestContext_FromContext_GivesTheSamePrincipal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := auth.Principal{
			Issuer:         rapid.StringMatching(`https://[a-z./]{1,8}`).Draw(t, "issuer"),
			UserID:         rapid.StringMatching(`[ -~]{1,255}`).Draw(t, "user"),
			OrganizationID: rapid.StringMatching(`([A-Za-z0-9][A-Za-z0-9._-]{0,63})?`).Draw(t, "organization"),
			Roles:          rapid.SliceOfNDistinct(rapid.SampledFrom(auth.Roles), 0, 4, rapid.ID).Draw(t, "roles"),
			Expires:        time.Unix(rapid.Int64Range(0, 253402300799).Draw(t, "exp"), 0),
			Name:           rapid.StringN(0, 200, -1).Draw(t, "name"),
			CountedBy:      rapid.StringMatching(`[a-z0-9-]{0,8}`).Draw(t, "counted by"),
		}
		if rapid.Bool().Draw(t, "with a time of authentication") {
			p.AuthenticatedAt = time.Unix(rapid.Int64Range(0, 253402300799).Draw(t, "auth_time"), 0)
		}
		values := p.Context()
		for key, value := range values {
			_, ok := value.(string)
			expect.Must(t, ok, "%s is a %T, but API Gateway passes only strings", key, value)
		}
		got := expect.Value(auth.FromContext(values))(t)
		if got.User() != p.User() || got.OrganizationID != p.OrganizationID || !got.Expires.Equal(p.Expires) || len(got.Roles) != len(p.Roles) {
			t.Fatalf("sent %+v, arrived %+v", p, got)
		}
		expect.Must(t, got.CountedBy == p.CountedBy, "counted by %q, arrived %q", p.CountedBy, got.CountedBy)
		expect.Must(t, got.Name == p.Name && got.AuthenticatedAt.Equal(p.AuthenticatedAt),
			"sent %q of %v, arrived %q of %v", p.Name, p.AuthenticatedAt, got.Name, got.AuthenticatedAt)
		for i, r := range p.Roles {
			expect.Must(t, got.Roles[i] == r, "sent %v, arrived %v", p.Roles, got.Roles)
		}
	})
}

func TestFromContext_WithoutACaller_IsAnError(t *testing.T) {
	good := func() map[string]any {
		return auth.Principal{Issuer: "https://people.example", UserID: "ada", Expires: noon}.Context()
	}
	for _, key := range []string{"issuer", "userId", "exp"} {
		for _, value := range []any{nil, "", 7, []string{"x"}} {
			values := good()
			values[key] = value
			p, err := auth.FromContext(values)
			expect.That(t, err != nil && p.UserID == "", "%s = %v: %+v, error %v", key, value, p, err)
		}
	}
	_, err := auth.FromContext(nil)
	expect.That(t, err != nil, "an empty context gives a caller")
}

// A context without a name or a time of authentication is valid, because an issuer may leave
// them out. A malformed time is an error, so that no signature has a wrong one.
func TestFromContext_NameAndTimeOfAuthentication(t *testing.T) {
	values := auth.Principal{Issuer: "https://people.example", UserID: "ada", Expires: noon}.Context()
	for _, name := range []string{"name", "authTime"} {
		_, there := values[name]
		expect.That(t, !there, "%s is in the context, but was not set", name)
	}
	if p, err := auth.FromContext(values); err != nil || p.Name != "" || !p.AuthenticatedAt.IsZero() {
		t.Errorf("%+v, %v", p, err)
	}
	values["name"], values["authTime"] = "Ada Lovelace", "1772366400"
	if p, err := auth.FromContext(values); err != nil || p.Name != "Ada Lovelace" || !p.AuthenticatedAt.Equal(noon) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, authTime := range []string{"noon", "1.5", " 1", "99999999999999999999"} {
		values["authTime"] = authTime
		p, err := auth.FromContext(values)
		expect.That(t, err != nil, "authTime %q became %v", authTime, p.AuthenticatedAt)
	}
}

func TestRoles_DoNotContainMember(t *testing.T) {
	for _, r := range auth.Roles {
		expect.That(t, r != auth.Member, "a token could carry the placeholder for any person")
	}
}

// TestContext_RetryAfter_SpreadsCallersOverAMinute: boxes that the gateway refused at the same
// time must not all retry at the same time.
func TestContext_RetryAfter_SpreadsCallersOverAMinute(t *testing.T) {
	const boxes = 6000
	counts := map[int]int{}
	for n := range boxes {
		p := auth.Principal{Issuer: "https://fleet.example", UserID: fmt.Sprintf("box-%04d", n)}
		seconds, err := strconv.Atoi(p.Context()[auth.KeyRetryAfter].(string))
		if err != nil || seconds < 1 || seconds > 60 {
			t.Fatalf("%s waits %v s: %v", p.UserID, p.Context()[auth.KeyRetryAfter], err)
		}
		counts[seconds]++
	}
	for seconds := 1; seconds <= 60; seconds++ {
		n := counts[seconds]
		expect.That(t, n >= boxes/60/2 && n <= boxes/60*2, "%d of %d boxes come back after %d s", n, boxes, seconds)
	}
}
