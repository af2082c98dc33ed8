package devissuer

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A Provider lets people sign in to the people's issuer by OpenID Connect, with the authorization code flow, PKCE and
// refresh tokens. It asks for no password, because it is for one machine only. It must listen only on loopback, and
// it sends codes only to loopback. It is safe for concurrent use.
type Provider struct {
	issuers *Issuers
	url     string
	now     func() time.Time
	known   []Claims // see Know

	mu    sync.Mutex
	codes map[string]code
	fresh map[string]session // by refresh token
}

// ClientID is the only client: the operator's command and page.
const ClientID = "wavegate-operator"

// The lifetimes of a code, an access token and a session. Refresh tokens extend a session.
const (
	codeLasts    = time.Minute
	tokenLasts   = time.Hour
	sessionLasts = 12 * time.Hour
)

// A code is exchanged for tokens, once.
type code struct {
	session   session
	redirect  string
	challenge string
	ends      time.Time
}

type session struct {
	claims Claims
	ends   time.Time
}

// Provider makes a provider at a URL.
func (i *Issuers) Provider(url string) *Provider {
	return &Provider{issuers: i, url: url, now: time.Now, codes: map[string]code{}, fresh: map[string]session{}}
}

// Know names people who are signed in without a form if login_hint names them.
func (p *Provider) Know(people ...Claims) { p.known = people }

// Login describes to a client how to sign in. The service serves it at operations.LoginPath.
func (p *Provider) Login() map[string]any {
	return map[string]any{
		"issuer": People, "authorizationEndpoint": p.url + "/authorize", "tokenEndpoint": p.url + "/token",
		"clientId": ClientID, "scope": "openid", "local": true,
	}
}

// Handler answers the provider's requests.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discover)
	mux.HandleFunc("GET /authorize", p.ask)
	mux.HandleFunc("POST /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("OPTIONS /token", func(w http.ResponseWriter, r *http.Request) { share(w, r); w.WriteHeader(http.StatusNoContent) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || !loopback(host) { // a page with a host name that was made to point here
			http.Error(w, "use a loopback address", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
		mux.ServeHTTP(w, r)
	})
}

// discover is OpenID Connect Discovery 1.0. The issuer is a name and not the URL, because tokens
// of one machine are valid wherever its service listens.
func (p *Provider) discover(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": People, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "prompt_values_supported": []string{"none"},
		"scopes_supported": []string{"openid"}, "token_endpoint_auth_methods_supported": []string{"none"},
	})
}

// check returns what is wrong with a request for a code.
func check(q url.Values) string {
	redirect, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case q.Get("client_id") != ClientID:
		return "client_id: there is no such client"
	case err != nil || redirect.Scheme != "http" || !loopback(redirect.Hostname()) || redirect.Fragment != "":
		return "redirect_uri: must be an http URL of this machine"
	case q.Get("response_type") != "code":
		return "response_type: must be code"
	case q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43:
		return "code_challenge: must use the method S256"
	}
	return ""
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// authorize signs in the person in the form, and sends a code to the client.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form cannot be read", http.StatusBadRequest)
		return
	}
	// The form's address contains the request for the code.
	if wrong := check(r.URL.Query()); wrong != "" {
		http.Error(w, wrong, http.StatusBadRequest)
		return
	}
	p.grant(w, r, r.PostForm.Get("user"), r.PostForm.Get("organization"), r.PostForm["role"])
}

// grant sends a code to the client, or the reason why there is none.
func (p *Provider) grant(w http.ResponseWriter, r *http.Request, user, organization string, roles []string) {
	q := r.URL.Query()
	s := session{Claims{User: user, Organization: organization, Roles: roles, TTL: tokenLasts}, p.now().Add(sessionLasts)}
	answer := url.Values{"state": {q.Get("state")}, "iss": {People}} // RFC 9207
	if _, err := p.issuers.Token(s.claims); err != nil || slices.Contains(roles, "edge") {
		answer.Set("error", "access_denied")
		answer.Set("error_description", "there can be no such person")
		if err != nil {
			answer.Set("error_description", err.Error())
		}
	} else {
		answer.Set("code", p.keep(code{s, q.Get("redirect_uri"), q.Get("code_challenge"), p.now().Add(codeLasts)}))
	}
	redirect, _ := url.Parse(q.Get("redirect_uri")) // already checked
	had := redirect.Query()
	for name, values := range answer {
		had[name] = values
	}
	redirect.RawQuery = had.Encode()
	http.Redirect(w, r, redirect.String(), http.StatusSeeOther) //nolint:gosec // check allows only this machine
}

func (p *Provider) keep(c code) string {
	key := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[key] = c
	return key
}

// token exchanges a code or a refresh token for tokens. Each can be used once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	share(w, r)
	if err := r.ParseForm(); err != nil || r.PostForm.Get("client_id") != ClientID {
		writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	s, ok := p.take(r.PostForm)
	if !ok {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	access, err := p.issuers.Token(s.claims)
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, map[string]any{"error": "server_error"})
		return
	}
	refresh := rand.Text()
	p.mu.Lock()
	p.fresh[refresh] = s
	p.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(tokenLasts.Seconds()), "refresh_token": refresh,
	})
}

func (p *Provider) take(form url.Values) (session, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch form.Get("grant_type") {
	case "authorization_code":
		c, ok := p.codes[form.Get("code")]
		delete(p.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		right := subtle.ConstantTimeCompare([]byte(encode(sum[:])), []byte(c.challenge)) == 1
		return c.session, ok && right && form.Get("redirect_uri") == c.redirect && p.now().Before(c.ends)
	case "refresh_token":
		s, ok := p.fresh[form.Get("refresh_token")]
		delete(p.fresh, form.Get("refresh_token"))
		return s, ok && p.now().Before(s.ends)
	}
	return session{}, false
}

// share lets pages of this machine read the answer.
func share(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if u, err := url.Parse(origin); err == nil && loopback(u.Hostname()) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Vary", "Origin")
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have left
}
