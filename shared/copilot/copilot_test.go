package copilot

import (
	"net/http"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

var names = []setting.Name{setting.CopilotURL, setting.CopilotSecretID, setting.CopilotSecret, setting.CopilotTimeoutSeconds}

func TestSettings_OnesThatMakeNoSense_AreRefused(t *testing.T) {
	for name, env := range map[string][3]string{
		"no URL":                        {"::", "s", ""},
		"no host":                       {"https:///chat", "s", ""},
		"a password in it":              {"https://u:p@copilot.example", "s", ""},
		"a query":                       {"https://copilot.example/?key=1", "s", ""},
		"a fragment":                    {"https://copilot.example/#x", "s", ""},
		"the secret in the clear":       {"http://copilot.example", "s", ""},
		"another scheme":                {"ftp://copilot.example", "s", ""},
		"no secret":                     {"https://copilot.example", "", ""},
		"a secret that is not a header": {"https://copilot.example", "a\nb", ""},
		"no time":                       {"https://copilot.example", "s", "0"},
		"more time than there is":       {"https://copilot.example", "s", "28"},
		"a time that is not a number":   {"", "", "soon"},
	} {
		t.Run(name, func(t *testing.T) {
			for i, key := range []setting.Name{setting.CopilotURL, setting.CopilotSecret, setting.CopilotTimeoutSeconds} {
				t.Setenv(string(key), env[i])
			}
			r := setting.NewValues(names...)
			s := ReadSettings(r)
			expect.That(t, r.Err() != nil, "taken as %+v", s)
		})
	}
}

func TestSettings_NoneAndSome_AreTaken(t *testing.T) {
	if s := ReadSettings(setting.NewValues(names...)); s.URL != nil || s.Timeout != 25*time.Second {
		t.Errorf("none: got %+v", s)
	}
	t.Setenv("COPILOT_URL", "https://copilot.example/v1/")
	t.Setenv("COPILOT_SECRET", "s")
	t.Setenv("COPILOT_TIMEOUT_SECONDS", "3")
	r := setting.NewValues(names...)
	if s := ReadSettings(r); r.Err() != nil || s.URL.Host != "copilot.example" || s.Timeout != 3*time.Second {
		t.Errorf("some: got %+v, %v", s, r.Err())
	}
}

// TestSettings_TheSecret_IsNamedByItsID in a deployment: no variable contains its value.
func TestSettings_TheSecret_IsNamedByItsID(t *testing.T) {
	t.Setenv("COPILOT_URL", "https://copilot.example/v1/")
	t.Setenv("COPILOT_SECRET_ID", "wavegate/copilot")
	r := setting.NewValues(names...)
	if s := ReadSettings(r); r.Err() != nil || s.URL == nil || s.SecretID != "wavegate/copilot" || s.Secret != "" {
		t.Errorf("got %+v, %v", s, r.Err())
	}
}

// TestTarget keeps the caller's own encoding and never leaves the assistant's path.
func TestTarget(t *testing.T) {
	t.Setenv("COPILOT_URL", "https://copilot.example/v1/")
	t.Setenv("COPILOT_SECRET", "s")
	s := ReadSettings(setting.NewValues(names...))
	for rest, want := range map[string]string{
		"chat":            "https://copilot.example/v1/chat",
		"a%2Fb/x%20y":     "https://copilot.example/v1/a%2Fb/x%20y",
		"a//b/":           "https://copilot.example/v1/a//b/",
		"..a/b..":         "https://copilot.example/v1/..a/b..",
		"..":              "",
		"a/../b":          "",
		"a/%2e%2e/b":      "",
		"a%2f..%2fb":      "",
		"a%5C..%5Cb":      "",
		"./a":             "",
		"%zz":             "",
		"..;/admin":       "",
		"..;a=b/admin":    "",
		"%2e%2e;/admin":   "",
		"a/..%3b/b":       "",
		"%252e%252e/b":    "",
		"a%255c..%255c":   "",
		"%20../b":         "",
		"%252e%252e/b%25": "",
		"a/..%00/b":       "",
		".%7F/b":          "",
		"%c0%ae%c0%ae/b":  "",
		"a%e0%80%af../b":  "",
		"%25252e./%25zz":  "",
		"a;v=1/b..;c":     "https://copilot.example/v1/a;v=1/b..;c",
		"100%25":          "https://copilot.example/v1/100%25",
		"//evil.test/x":   "https://copilot.example/v1///evil.test/x",
	} {
		u, err := New(s, nil, time.Now).target(rest)
		if want == "" {
			expect.That(t, err != nil, "%s: taken as %s", rest, u)
			continue
		}
		expect.OK(t, err)
		expect.Equal(t, u.String(), want, "the URL of %s is", rest)
	}
}

// TestIdentify_ValueThatIsNoHeader is encoded: it can neither break the request nor add a header.
func TestIdentify_ValueThatIsNoHeader_IsEncoded(t *testing.T) {
	h := http.Header{}
	identify(h, auth.Principal{Issuer: "https://i", UserID: "a\r\nX-Wavegate-Roles: edge", OrganizationID: "müller 50%"}, "r", "s")
	expect.Equal(t, h.Get(HeaderUser), "a%0D%0AX-Wavegate-Roles: edge", "the user is")
	expect.Equal(t, h.Get(HeaderOrganization), "m%C3%BCller 50%25", "the organization is")
}
