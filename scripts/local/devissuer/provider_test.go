package devissuer_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/testing/expect"
)

const verifier = "a-verifier-of-at-least-forty-three-characters"

// login is a provider and a browser that follows no redirect.
type login struct {
	*testing.T
	issuers *devissuer.Issuers
	known   func(...devissuer.Claims)
	url     string
	client  *http.Client
}

func newLogin(t *testing.T) login {
	t.Helper()
	issuers := load(t, t.TempDir())
	server := httptest.NewUnstartedServer(nil)
	provider := issuers.Provider("http://" + server.Listener.Addr().String())
	server.Config.Handler = provider.Handler()
	server.Start()
	t.Cleanup(server.Close)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return login{t, issuers, provider.Know, server.URL, client}
}

// request is a valid request for a code, with changes: alternating names and values.
func request(changes ...string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {devissuer.ClientID}, "redirect_uri": {"http://localhost:40001/callback"},
		"state": {"s-1"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	return q
}

func (l login) do(method, path string, form url.Values) (*http.Response, string) {
	l.Helper()
	r := expect.Value(http.NewRequestWithContext(l.Context(), method, l.url+path, strings.NewReader(form.Encode())))(l)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res := expect.Value(l.client.Do(r))(l)
	defer func() { _ = res.Body.Close() }()
	body := expect.Value(io.ReadAll(res.Body))(l)
	return res, string(body)
}

// code logs olga in with the form and returns what her browser returns to the client.
func (l login) code(form url.Values) url.Values {
	l.Helper()
	res, body := l.do(http.MethodPost, "/authorize?"+request().Encode(), form)
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.String(), "http://localhost:40001/callback?") {
		l.Fatalf("answered %d %s %s", res.StatusCode, res.Header, body)
	}
	return to.Query()
}

func (l login) exchange(form url.Values) (status int, answer map[string]any) {
	l.Helper()
	res, body := l.do(http.MethodPost, "/token", form)
	expect.OK(l, json.Unmarshal([]byte(body), &answer))
	return res.StatusCode, answer
}

func byCode(code string, changes ...string) url.Values {
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {devissuer.ClientID}, "code": {code},
		"redirect_uri": {"http://localhost:40001/callback"}, "code_verifier": {verifier}}
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return form
}

var olga = url.Values{"user": {"olga"}, "organization": {"wavegate"}, "role": {"platform_owner"}}

func TestProvider_FormThenCodeThenRefresh_GivesValidTokens(t *testing.T) {
	l := newLogin(t)
	res, body := l.do(http.MethodGet, "/authorize?"+request().Encode(), nil)
	expect.Must(t, res.StatusCode == http.StatusOK &&
		strings.Contains(body, `name="user"`), "the form: %d %s", res.StatusCode, body)
	back := l.code(olga)
	expect.Equal(t, back.Get("state"), "s-1", "the state comes back as")
	status, tokens := l.exchange(byCode(back.Get("code")))
	for range 2 {
		expect.Must(t, status == http.StatusOK, "answered %d %v", status, tokens)
		p := expect.Value(verify(t, l.issuers, tokens["access_token"].(string), 59*time.Minute))(t)
		got := []any{p.UserID, p.OrganizationID, len(p.Roles), p.Issuer}
		expect.Equal(t, got, []any{"olga", "wavegate", 1, devissuer.People}, "accepted as")
		status, tokens = l.exchange(url.Values{"grant_type": {"refresh_token"}, "client_id": {devissuer.ClientID},
			"refresh_token": {tokens["refresh_token"].(string)}})
	}
}

func TestProvider_PromptNone_SkipsTheForm(t *testing.T) {
	l := newLogin(t)
	q := request("prompt", "none", "login_hint", "vera", "organization", "acme", "role", "fleet_viewer")
	res, _ := l.do(http.MethodGet, "/authorize?"+q.Encode(), nil)
	to, err := url.Parse(res.Header.Get("Location"))
	expect.Must(t, err == nil && to.Query().Get("code") != "", "answered %d to %v, %v", res.StatusCode, to, err)
	status, tokens := l.exchange(byCode(to.Query().Get("code")))
	p, err := verify(t, l.issuers, tokens["access_token"].(string), 0)
	expect.That(t, status == http.StatusOK && err == nil && p.UserID == "vera", "accepted as %+v, %v", p, err)
}

func TestProvider_KnownPerson_SkipsTheForm_AndNobodyElse(t *testing.T) {
	l := newLogin(t)
	ask := func(hint string) *http.Response {
		res, _ := l.do(http.MethodGet, "/authorize?"+request("login_hint", hint).Encode(), nil)
		return res
	}
	if res := ask("olga"); res.StatusCode != http.StatusOK {
		t.Errorf("before: %d", res.StatusCode)
	}
	l.known(devissuer.Claims{User: "olga", Roles: []string{"platform_owner"}})
	for _, other := range []string{"", "otto"} {
		res := ask(other)
		expect.That(t, res.StatusCode == http.StatusOK, "%q: %d", other, res.StatusCode)
	}
	to := expect.Value(ask("olga").Location())(t)
	status, answer := l.exchange(byCode(to.Query().Get("code")))
	expect.That(t, status == http.StatusOK && answer["access_token"] != "", "the code gives %d %v", status, answer)
}

func TestProvider_UsedCodeOrRefreshToken_IsRefused(t *testing.T) {
	l := newLogin(t)
	code := l.code(olga).Get("code")
	_, tokens := l.exchange(byCode(code))
	refresh := url.Values{"grant_type": {"refresh_token"}, "client_id": {devissuer.ClientID},
		"refresh_token": {tokens["refresh_token"].(string)}}
	l.exchange(refresh)
	for name, form := range map[string]url.Values{"code": byCode(code), "refresh token": refresh} {
		if status, answer := l.exchange(form); status != http.StatusBadRequest || answer["error"] != "invalid_grant" {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}

func TestProvider_InvalidExchange_IsRefused(t *testing.T) {
	l := newLogin(t)
	for name, change := range map[string][]string{
		"another verifier":     {"code_verifier", strings.Repeat("x", 43)},
		"another redirect URI": {"redirect_uri", "http://localhost:40002/callback"},
		"another client":       {"client_id", "someone"},
		"another grant":        {"grant_type", "password"},
	} {
		status, answer := l.exchange(byCode(l.code(olga).Get("code"), change...))
		expect.That(t, status/100 == 4 && answer["access_token"] == nil, "%s: %d %v", name, status, answer)
	}
}

func TestProvider_InvalidRequest_GetsNoCode(t *testing.T) {
	l := newLogin(t)
	for name, q := range map[string]url.Values{
		"elsewhere":      request("redirect_uri", "https://elsewhere.example/callback"),
		"no PKCE":        request("code_challenge", ""),
		"plain PKCE":     request("code_challenge_method", "plain"),
		"another client": request("client_id", "someone"),
		"implicit":       request("response_type", "token"),
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			res, body := l.do(method, "/authorize?"+q.Encode(), olga)
			expect.That(t, res.StatusCode == http.StatusBadRequest &&
				res.Header.Get("Location") == "", "%s: %s answered %d %s", name, method, res.StatusCode, body)
		}
	}
}

func TestProvider_InvalidPerson_GetsAnError(t *testing.T) {
	l := newLogin(t)
	for name, form := range map[string]url.Values{
		"no name": {}, "a box": {"user": {"box-1"}, "role": {"edge"}}, "unknown role": {"user": {"olga"}, "role": {"root"}},
	} {
		back := l.code(form)
		expect.That(t, back.Get("error") == "access_denied" && back.Get("code") == "", "%s: %v", name, back)
	}
}

func TestProvider_HostThatIsNotLoopback_IsRefused(t *testing.T) {
	l := newLogin(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url+"/.well-known/openid-configuration", nil)
	expect.OK(t, err)
	for host, want := range map[string]int{"elsewhere.example:80": http.StatusForbidden, "localhost:1": http.StatusOK} {
		r.Host = host
		res := expect.Value(l.client.Do(r))(t)
		_ = res.Body.Close()
		expect.Equal(t, res.StatusCode, want, "%s:", host)
	}
}
