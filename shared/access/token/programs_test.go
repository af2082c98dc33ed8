package token_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

const (
	github = "https://token.actions.githubusercontent.com"
	main   = "repo:acme/firmware:ref:refs/heads/main"
)

// programs is an issuer of the shape of GitHub's, with one program.
func programs(key tokentest.Key) map[string]any {
	return map[string]any{
		"issuer": github, "audience": []string{"wavegate-prod"}, "jwks": json.RawMessage(tokentest.KeySet(key)),
		"subjects": map[string]any{main: map[string]any{
			"publish": []string{"gateway-x/canary", "camera-y/canary"}, "start": []string{"gateway-x/stable", "camera-y/stable"},
			"override": []string{"camera-y/canary"}, "hosts": []string{"a.example", "B.example:8443"},
		}},
	}
}

// run is a token of the shape that GitHub gives a run.
func run(key tokentest.Key) tokentest.Draft {
	return tokentest.Draft{
		Header: map[string]any{"typ": "JWT", "x5t": "ykNaY4qM_ta4k2TgZOCEYLkcYlA"},
		Claims: map[string]any{
			"jti": "6a4f0f5a-8a2b-4d61-9d3e-6c0f0a1b2c3d", "sub": main, "aud": "wavegate-prod", "ref": "refs/heads/main",
			"sha": "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c", "repository": "acme/firmware", "repository_owner": "acme", "repository_id": "74",
			"run_id": "9012345678", "run_number": "17", "run_attempt": "1", "actor": "eric", "workflow": "release", "event_name": "push",
			"ref_protected": "true", "ref_type": "branch", "runner_environment": "github-hosted", "iss": github,
			"nbf": noon.Unix() - 300, "iat": noon.Unix(), "exp": noon.Unix() + 300,
		},
	}.By(key)
}

func TestVerify_Program_MayWhatTheSettingsList_WhateverItsTokenClaims(t *testing.T) {
	key := tokentest.NewRS256("run", 2048)
	v := verifierOf(t, tokentest.JSON([]any{programs(key)}), noon)
	for _, draft := range []tokentest.Draft{
		run(key), run(key).With("roles", []string{"platform_owner"}).With("org", "acme"), run(key).With("roles", 7).With("org", "a/b"),
	} {
		p, err := v.Verify(t.Context(), draft.Sign())
		expect.OK(t, err)
		// As the functions see it.
		p, err = auth.FromContext(p.Context())
		if err != nil || p.UserID != main || p.OrganizationID != "" || !slices.Equal(p.Roles, []auth.Role{auth.Program}) {
			t.Errorf("%+v, %v", p, err)
		}
		for _, c := range []struct {
			edgeType, channel        string
			publish, start, override bool
		}{
			{"gateway-x", "canary", true, false, false}, {"gateway-x", "stable", false, true, false}, {"camera-y", "stable", false, true, false},
			{"camera-y", "canary", true, false, true}, {"gateway-x", "canar", false, false, false}, {"", "", false, false, false},
		} {
			at := c.edgeType + "/" + c.channel
			expect.Equal(t, p.MayPublish(c.edgeType, c.channel), c.publish, "it may publish on %s:", at)
			expect.Equal(t, p.MayStart(c.edgeType, c.channel), c.start, "it may start rollouts on %s:", at)
			expect.Equal(t, p.MayOverride(c.edgeType, c.channel), c.override, "it may override on %s:", at)
		}
		for url, may := range map[string]bool{
			"https://a.example/1": true, "https://A.Example:443/1": true, "https://b.example:8443/1": true, "http://a.example/1": true,
			"https://b.example/1": false, "https://a.example:8443/1": false, "https://a.example.evil.example/1": false,
			"https://evil.example/a.example": false, "https://evil.example?a.example": false, "https://sub.a.example/": false, "http://a.example:443/": false,
		} {
			expect.Equal(t, p.MayFetchFrom(url), may, "it may fetch from %s:", url)
		}
	}
}

func TestVerify_Program_ThatIsNotListed_IsRefused(t *testing.T) {
	key, stranger := tokentest.NewES256("run"), tokentest.NewES256("run")
	v := verifierOf(t, tokentest.JSON([]any{programs(key)}), noon)
	for name, c := range map[string]struct {
		draft tokentest.Draft
		want  token.RefusalReason
	}{
		"another repository":            {run(key).With("sub", "repo:acme-evil/firmware:ref:refs/heads/main"), token.BadSubject},
		"a pull request":                {run(key).With("sub", "repo:acme/firmware:pull_request"), token.BadSubject},
		"another branch":                {run(key).With("sub", main+"2"), token.BadSubject},
		"a shorter name":                {run(key).With("sub", main[:len(main)-1]), token.BadSubject},
		"another case":                  {run(key).With("sub", "repo:Acme/firmware:ref:refs/heads/main"), token.BadSubject},
		"a space behind":                {run(key).With("sub", main+" "), token.BadSubject},
		"a pattern":                     {run(key).With("sub", "repo:acme/*"), token.BadSubject},
		"the audience of another stage": {run(key).With("aud", "wavegate-dev"), token.BadAudience},
		"the provider's own audience":   {run(key).With("aud", "https://github.com/acme"), token.BadAudience},
		"no audience":                   {run(key).With("aud", nil), token.BadAudience},
		"a stranger's key":              {run(stranger), token.BadSignature},
		"two days long":                 {run(key).With("exp", noon.Unix()+172_800), token.BadLifetime},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := v.Verify(t.Context(), c.draft.Sign())
			r, ok := errors.AsType[*token.Refusal](err)
			expect.That(t, ok && r.Reason == c.want && !r.MayBecomeGood() && p.UserID == "", "%+v, %v", p, err)
		})
	}
}

// TestVerify_NoClaim_MakesAProgram: only the settings do.
func TestVerify_NoClaim_MakesAProgram(t *testing.T) {
	w := tokentest.NewWorld(noon)
	for _, draft := range []tokentest.Draft{w.Person(), w.Employee(), w.Box()} {
		p, err := verifier(t, w).Verify(t.Context(), draft.With("roles", []string{"program"}).Sign())
		expect.Equal(t, reasonOf(err), token.BadRole, "%+v is refused as", p)
	}
}

func TestParseIssuers_Programs_ThatCannotBe_AreRefused(t *testing.T) {
	key, w := tokentest.NewES256("run"), tokentest.NewWorld(noon)
	with := func(name string, value any) map[string]any {
		m := programs(key)
		m[name] = value
		return m
	}
	subjects := func(sub string, channels any) map[string]any { return with("subjects", map[string]any{sub: channels}) }
	publish := func(list ...string) map[string]any { return map[string]any{"publish": list} }
	for name, c := range map[string]struct{ setting, want string }{
		"roles, too":               {of(with("grants", []string{"platform_owner"})), "AUTH_ISSUERS[0].grants: the claims of an issuer with subjects grant nothing, so it must be left out"},
		"names of roles, too":      {of(with("roleNames", map[string]any{"a": "fleet_viewer"})), "AUTH_ISSUERS[0].roleNames: the claims"},
		"an organization, too":     {of(with("organization", "acme")), "AUTH_ISSUERS[0].organization: the claims"},
		"organizations, too":       {of(with("organizations", []string{"acme"})), "AUTH_ISSUERS[0].organizations: the claims"},
		"no subjects":              {of(with("subjects", map[string]any{})), "AUTH_ISSUERS[0].subjects: must be an object of at least one sub"},
		"a list":                   {of(with("subjects", []string{main})), "AUTH_ISSUERS[0].subjects: must be an object of at least one sub"},
		"a pattern":                {of(subjects("repo:acme/*", publish("g/c"))), `AUTH_ISSUERS[0].subjects: "repo:acme/*": must be a whole sub, without *`},
		"an empty sub":             {of(subjects("", publish("g/c"))), `AUTH_ISSUERS[0].subjects: "": must be a whole sub`},
		"nothing to do":            {of(subjects(main, map[string]any{})), `must be an object with "publish", "start" or both`},
		"something else to do":     {of(subjects(main, map[string]any{"halt": []string{"g/c"}})), `a program may only "publish" and "start", not "halt"`},
		"no channel":               {of(subjects(main, publish())), `publish must be a list of channels such as "gateway-x/canary"`},
		"not a channel":            {of(subjects(main, publish("gateway-x"))), "publish must be a list of channels"},
		"all channels":             {of(subjects(main, publish("gateway-x/*"))), "publish must be a list of channels"},
		"only a right to override": {of(subjects(main, map[string]any{"override": []string{"g/c"}})), `must be an object with "publish", "start" or both`},
		"an override elsewhere":    {of(subjects(main, map[string]any{"publish": []string{"g/c"}, "override": []string{"g/d"}})), "override: it may not publish on g/d"},
		"no host":                  {of(subjects(main, map[string]any{"publish": []string{"g/c"}, "hosts": []string{}})), "hosts must be a list of hosts"},
		"a URL as host":            {of(subjects(main, map[string]any{"publish": []string{"g/c"}, "hosts": []string{"https://a.example"}})), "hosts must be a list of hosts"},
		"any host":                 {of(subjects(main, map[string]any{"publish": []string{"g/c"}, "hosts": []string{"*.a.example"}})), "hosts must be a list of hosts"},
		"a host with a space":      {of(subjects(main, map[string]any{"publish": []string{"g/c"}, "hosts": []string{"a.example b.example"}})), "hosts must be a list of hosts"},
		"a channel in both":        {of(subjects(main, map[string]any{"publish": []string{"g/c"}, "start": []string{"g/c"}})), "needs no rollout there"},
		"the role by its name":     {of(issuer(tokentest.People, tokentest.KeySet(w.PeopleES256), "program")), "AUTH_ISSUERS[0].grants: programs are listed in subjects"},
		"a key of people's":        {of(programs(w.PeopleES256), issuer(tokentest.People, tokentest.KeySet(w.PeopleES256), "platform_owner")), "only one of them has subjects, and it has a key in common with"},
		"the issuer of people":     {of(with("issuer", tokentest.People), issuer(tokentest.People, tokentest.KeySet(w.PeopleES256), "platform_owner")), "AUTH_ISSUERS[1].issuer: the same as that of AUTH_ISSUERS[0]"},
		"no audience, no client":   {of(func() map[string]any { m := programs(key); delete(m, "audience"); return m }()), "AUTH_ISSUERS[0].audience: missing"},
	} {
		t.Run(name, func(t *testing.T) { refuses(t, c.setting, c.want) })
	}
	// Programs belong to no organization, so any issuers of people may be beside them.
	_, err := token.ParseIssuers(of(programs(key), issuer(tokentest.People, tokentest.KeySet(w.PeopleES256), "platform_owner")))
	expect.That(t, err == nil, "%v", err)
}
