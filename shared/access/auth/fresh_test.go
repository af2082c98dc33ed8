package auth_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

func TestFresh_ByTheAgeOfTheSignIn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		most int
		at   time.Time
		want string // a part of the refusal; empty: none
	}{
		"no limit, and the token does not say": {0, time.Time{}, ""},
		"no limit, long ago":                   {0, now.AddDate(-1, 0, 0), ""},
		"just now":                             {300, now, ""},
		"by a clock that is ahead":             {300, now.Add(time.Minute), ""},
		"at the limit":                         {300, now.Add(-5 * time.Minute), ""},
		"a second longer ago":                  {300, now.Add(-5*time.Minute - time.Second), "You signed in 5m1s ago"},
		"the token does not say":               {300, time.Time{}, "the tokens of https://people.example do not say when a person signed in"},
	} {
		t.Setenv(string(setting.SignatureMaxAgeSeconds), setting.SignatureMaxAgeSeconds.Assign(c.most)[len(setting.SignatureMaxAgeSeconds)+1:])
		err := auth.Principal{Issuer: "https://people.example", AuthenticatedAt: c.at}.Fresh(setting.NewValues(setting.SignatureMaxAgeSeconds), now)
		expect.That(t, (err == nil) == (c.want == "") && (err == nil || problem.Has(err, problem.SignInAgain) && strings.Contains(err.Error(), c.want)), "%s: %v", name, err)
	}
}
