// Package login signs a person in by the authorization code flow with PKCE (RFC 7636, RFC 8252), and keeps
// the session in a file.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Path is where a service describes how people sign in.
const Path = "/console/config.json"

// A Provider describes how people sign in to a service.
type Provider struct {
	Issuer                string `json:"issuer"`
	AuthorizationEndpoint string `json:"authorizationEndpoint"`
	TokenEndpoint         string `json:"tokenEndpoint"`
	ClientID              string `json:"clientId"`
	Scope                 string `json:"scope"`
	// Local reports whether the issuer signs in the person that the request names, as the local issuer does.
	Local bool `json:"local,omitempty"`
}

// Discover asks a service how to sign in. All URLs must be https, like the service's own, unless both are on this
// machine.
func Discover(ctx context.Context, client *http.Client, service string) (c Provider, err error) {
	at, err := Service(service)
	if err != nil {
		return c, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+Path, nil)
	if err != nil {
		return c, err
	}
	res, err := client.Do(req)
	if err != nil {
		return c, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return c, fmt.Errorf("%s does not say how to sign in: it answered %d", at+Path, res.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w", at+Path, err)
	}
	for _, endpoint := range []string{c.AuthorizationEndpoint, c.TokenEndpoint} {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname()) && strings.HasPrefix(at, "http:")) {
			return c, fmt.Errorf("%s names %q for signing in, which is not an https URL", at+Path, endpoint)
		}
	}
	c.Local = c.Local && strings.HasPrefix(at, "http:")
	return c, nil
}

// Service checks the address of a service: https, or http on this machine. It returns it without a slash at the end.
func Service(address string) (string, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return "", fmt.Errorf("%q is not the address of a service: give an https URL, or an http URL of this machine", address)
	}
	return u.String(), nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c Provider) oauth(redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.ClientID, RedirectURL: redirect, Scopes: strings.Fields(c.Scope),
		Endpoint: oauth2.Endpoint{AuthURL: c.AuthorizationEndpoint, TokenURL: c.TokenEndpoint, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// A Way takes a person to the address where they sign in, and returns the address to which the issuer then redirects
// them.
type Way func(ctx context.Context, address string) (back string, err error)

// Identity names who signs in, if the issuer lets the request choose.
type Identity struct {
	As           string
	Organization string
	Roles        []string
}

// SignIn signs a person in. redirect is the address to which the issuer sends them back.
func SignIn(ctx context.Context, client *http.Client, c Provider, redirect string, o Identity, way Way) (Session, error) {
	if o.As != "" && !c.Local {
		return Session{}, errors.New("only the local issuer lets you choose who you are: omit --as")
	}
	oauth, verifier, state := c.oauth(redirect), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	parameters := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	address := oauth.AuthCodeURL(state, parameters...)
	if o.As != "" {
		more := url.Values{"prompt": {"none"}, "login_hint": {o.As}, "organization": {o.Organization}, "role": o.Roles}
		address += "&" + more.Encode()
	}
	back, err := way(ctx, address)
	if err != nil {
		return Session{}, err
	}
	u, err := url.Parse(strings.TrimSpace(back))
	if err != nil {
		return Session{}, errors.New("that is not an address")
	}
	q := u.Query()
	switch {
	case q.Get("state") != state:
		return Session{}, errors.New("the address is not the answer to this login; sign in again")
	case q.Get("iss") != "" && q.Get("iss") != c.Issuer: // RFC 9207
		return Session{}, fmt.Errorf("the answer came from %q, not from %s", q.Get("iss"), c.Issuer)
	case q.Get("error") != "":
		return Session{}, fmt.Errorf("the login was refused: %s %s", q.Get("error"), q.Get("error_description"))
	}
	token, err := oauth.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), q.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return Session{}, fmt.Errorf("the login could not be completed: %w", err)
	}
	return Session{Login: c, Access: token.AccessToken, Refresh: token.RefreshToken, Expires: token.Expiry, Began: time.Now()}, nil
}

// AsNamed is the Way of a request that names who signs in: nobody is asked.
func AsNamed(client *http.Client) Way {
	return func(ctx context.Context, address string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return "", err
		}
		still := *client
		still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		res, err := still.Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusSeeOther {
			return "", fmt.Errorf("the issuer answered %d", res.StatusCode)
		}
		return res.Header.Get("Location"), nil
	}
}
