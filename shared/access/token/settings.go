package token

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"wavegate/shared/access/auth"
)

// Setting is the environment variable that holds the issuers.
const Setting = "AUTH_ISSUERS"

// An Issuer is one whose tokens are taken, and what they may say.
type Issuer struct {
	// Name is the exact value of iss.
	Name string
	// Audience lists the values of aud that mean this service.
	Audience []string
	// ClientIDs lists the values of client_id that are taken instead of aud, in a token that has no aud
	// and the token_use "access", as Cognito sends it.
	ClientIDs []string
	// JWKSURL is where the issuer publishes its keys; empty if the settings hold the keys themselves.
	JWKSURL string
	// OrganizationClaim and RolesClaim name the claims with the caller's organization and roles.
	OrganizationClaim, RolesClaim string
	// Grants are the roles that the issuer may grant: auth.Edge alone, or any others.
	Grants []auth.Role

	keys map[string]key
}

// ParseIssuers reads the setting: a JSON list of objects with the members
//
//	issuer             the value of iss: an https URL
//	audience           list of values of aud; may be left out if there are clientIds
//	clientIds          list of values of client_id; may be left out if there is an audience
//	jwksUrl or jwks    where the keys are, or the keys: a JWK Set
//	organizationClaim  name of a claim; "org" if left out
//	rolesClaim         name of a claim; "roles" if left out
//	grants             list of roles
//
// URLs are https, or http to this machine. The error names every fault, and never a key.
//
// A stolen key of the fleet must not make people. So an issuer that grants edge grants nothing else,
// and shares neither its keys nor the place of its keys with one that does not.
func ParseIssuers(setting string) ([]Issuer, error) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(setting), &list); err != nil || len(list) == 0 {
		return nil, errors.New(Setting + ": must be a JSON list of at least one issuer")
	}
	var issuers []Issuer
	var faults []error
	for n, raw := range list {
		r := reader{at: fmt.Sprintf("%s[%d]", Setting, n)}
		issuers = append(issuers, r.issuer(raw))
		faults = append(faults, r.faults...)
	}
	for n, i := range issuers {
		for m, other := range issuers[:n] {
			if i.Name != "" && i.Name == other.Name {
				faults = append(faults, fmt.Errorf("%s[%d].issuer: the same as that of %s[%d]", Setting, n, Setting, m))
			}
			if i.isFleet() != other.isFleet() && i.sharesKeys(other) {
				faults = append(faults, fmt.Errorf("%s[%d]: has a key in common with %s[%d], and only one of them grants edge", Setting, n, Setting, m))
			}
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return issuers, nil
}

func (i Issuer) isFleet() bool { return slices.Contains(i.Grants, auth.Edge) }

func (i Issuer) sharesKeys(other Issuer) bool {
	if i.JWKSURL != "" && i.JWKSURL == other.JWKSURL {
		return true
	}
	for _, a := range i.keys {
		for _, b := range other.keys {
			if a.public.(interface{ Equal(crypto.PublicKey) bool }).Equal(b.public) {
				return true
			}
		}
	}
	return false
}

// A reader reads one issuer and collects what is wrong with it.
type reader struct {
	at     string
	m      members
	faults []error
}

func (r *reader) fault(member, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s.%s: %s", r.at, member, fmt.Sprintf(format, args...)))
}

var settings = []string{"issuer", "audience", "clientIds", "jwksUrl", "jwks", "organizationClaim", "rolesClaim", "grants"}

func (r *reader) issuer(raw []byte) Issuer {
	var err error
	if r.m, err = readObject(raw); err != nil {
		r.faults = append(r.faults, fmt.Errorf("%s: %w", r.at, err))
		return Issuer{}
	}
	for _, name := range slices.Sorted(maps.Keys(r.m)) {
		if !slices.Contains(settings, name) {
			r.faults = append(r.faults, fmt.Errorf("%s: no setting has the name %.40q", r.at, name))
		}
	}
	i := Issuer{
		Name:              r.url("issuer", true),
		Audience:          r.list("audience"),
		ClientIDs:         r.list("clientIds"),
		JWKSURL:           r.url("jwksUrl", false),
		OrganizationClaim: r.claim("organizationClaim", "org"),
		RolesClaim:        r.claim("rolesClaim", "roles"),
		Grants:            r.grants(),
		keys:              r.keys(),
	}
	if i.OrganizationClaim == i.RolesClaim {
		r.fault("rolesClaim", "the same as organizationClaim")
	}
	if !r.has("audience") && !r.has("clientIds") {
		r.fault("audience", "missing, and so is clientIds")
	}
	if r.has("jwksUrl") == r.has("jwks") {
		r.fault("jwksUrl", "exactly one of jwksUrl and jwks must be set")
	}
	return i
}

func (r *reader) has(member string) bool { _, there := r.m[member]; return there }

func (r *reader) url(member string, required bool) string {
	if !r.has(member) && !required {
		return ""
	}
	s, err := r.m.text(member)
	if err != nil {
		r.fault(member, "must be a string")
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || len(s) > 255 || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }):
		r.fault(member, "must be an absolute URL of at most 255 characters")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		r.fault(member, "must be https, or http to this machine")
	case u.User != nil || u.Fragment != "":
		r.fault(member, "must have neither user info nor a fragment")
	}
	return s
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// list reads a list of strings that has no empty one and is not empty itself.
func (r *reader) list(member string) []string {
	if !r.has(member) {
		return nil
	}
	list, err := r.m.texts(member)
	if err != nil || len(list) == 0 || slices.Contains(list, "") {
		r.fault(member, "must be a list of at least one string, none of them empty")
	}
	return list
}

// registered are the claims that have a meaning already.
var registered = []string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "token_use"}

func (r *reader) claim(member, byDefault string) string {
	if !r.has(member) {
		return byDefault
	}
	name, err := r.m.text(member)
	if err != nil || name == "" || slices.Contains(registered, name) {
		r.fault(member, "must be the name of a claim that has no other meaning")
	}
	return name
}

func (r *reader) grants() []auth.Role {
	names, err := r.m.texts("grants")
	if err != nil || len(names) == 0 {
		r.fault("grants", "must be a list of at least one role")
		return nil
	}
	var roles []auth.Role
	for _, name := range names {
		switch role := auth.Role(name); {
		case !slices.Contains(auth.Roles, role):
			r.fault("grants", "there is no role %.40q", name)
		case slices.Contains(roles, role):
			r.fault("grants", "%s stands there twice", role)
		default:
			roles = append(roles, role)
		}
	}
	if slices.Contains(roles, auth.Edge) && len(roles) > 1 {
		r.fault("grants", "an issuer that grants edge may grant nothing else")
	}
	return roles
}

func (r *reader) keys() map[string]key {
	if !r.has("jwks") {
		return nil
	}
	keys, err := parseKeySet(r.m["jwks"])
	switch {
	case err != nil:
		r.fault("jwks", "must be a JWK Set: %v", err)
	case len(keys) == 0:
		r.fault("jwks", "no key in it is fit: RSA of %d to %d bits, EC P-256 or Ed25519, public, with a kid, for signatures", minRSA, maxRSA)
	}
	return keys
}
