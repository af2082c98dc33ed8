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
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
)

// Setting is the environment variable that holds the issuers.
const Setting = "AUTH_ISSUERS"

// An Issuer is an issuer whose tokens are accepted, with what they may contain.
type Issuer struct {
	// Name is the exact value of iss.
	Name string
	// Audience lists the values of aud that mean this service.
	Audience []string
	// ClientIDs lists the values of client_id that are accepted instead of aud. They apply to a
	// token without aud and with the token_use "access", as Cognito sends it.
	ClientIDs []string
	// JWKSURL is where the issuer publishes its keys. It is empty if the settings contain the keys, or if the issuer's
	// own description says where they are (OpenID Connect Discovery).
	JWKSURL string
	// OrganizationClaim and RolesClaim say where the caller's organization and roles are.
	OrganizationClaim, RolesClaim ClaimPath
	// RoleNames are the issuer's names for the roles; nil means the service's own names.
	RoleNames map[string]auth.Role
	// Organization is that of every person of the issuer. If it is empty, the token names it.
	Organization string
	// Grants are the roles that the issuer may grant: only auth.Edge, or any others.
	Grants []auth.Role
	// Places are where the issuer's installers may register boxes; the zero Places are everywhere.
	Places auth.Places
	// Subjects are the programs that the issuer speaks for, by their sub, with the channels of each. If it is nil, the
	// issuer speaks for people or boxes.
	Subjects map[string]auth.Listed
	// Organizations are the ones that the issuer may name in tokens; nil means any.
	Organizations *Organizations
	// MaxLifetime is the longest time between iat and exp.
	MaxLifetime time.Duration

	keys map[string]key
}

// ParseIssuers reads the setting: a JSON list of objects with the members
//
//	issuer             the value of iss: an https URL
//	audience           list of values of aud; optional if there are clientIds
//	clientIds          list of values of client_id; optional if there is an audience
//	jwksUrl or jwks    the URL of the keys, or the keys: a JWK Set. If both are omitted, the keys are where the issuer's
//	                   own description says: <issuer>/.well-known/openid-configuration
//	organizationClaim  where the organization is, such as "org" (the default) or "tenant.name"; see parseClaim
//	organization       that of every person of the issuer, instead of organizationClaim
//	rolesClaim         where the roles are, such as "roles" (the default) or "realm_access.roles"
//	roleNames          object from the issuer's names to roles: {"Wavegate Owners": "platform_owner"}. No other names count
//	grants             list of roles; by default those of roleNames
//	places             where a fleet_installer may register boxes: {"factories": ["munich-1"], "channels": ["gateway-x/stable"]};
//	                   by default everywhere. The claims wavegate_factories and wavegate_channels of a token limit it further
//	subjects           the programs of an issuer, by their sub, instead of grants: {"repo:acme/firmware:ref:refs/heads/main":
//	                   {"publish": ["gateway-x/canary"], "start": ["gateway-x/stable"]}}
//	organizations      list of names, or of one prefix such as acme-*; by default any organization
//	maxLifetimeSeconds the longest that a token may last, from iat to exp; by default 24 hours
//
// URLs are https, or http to this machine. The error names every fault, and never a key.
//
// Someone who steals a fleet's key must not be able to make people. So an issuer that grants edge
// grants nothing else, and shares no keys and no key URL with an issuer that does not grant edge. It
// must set how long its tokens may last, because no default suits the boxes of every fleet.
//
// A customer's own issuer must not name another customer's organization. So if several issuers speak
// for people, each names its organizations, and these do not overlap. Only one of them may grant
// platform_owner or platform_viewer, and only that one may grant fleet_viewer without an organization, which is the same
// as platform_viewer.
//
// An issuer with subjects speaks only for programs: no claim of its tokens grants anything, and a sub that is not listed
// is refused.
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
			for _, fault := range i.conflicts(other) {
				faults = append(faults, fmt.Errorf("%s[%d]%s %s[%d]", Setting, n, fault, Setting, m))
			}
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return issuers, nil
}

// conflicts returns how two issuers contradict each other. The path of the other issuer follows each text.
func (i Issuer) conflicts(other Issuer) (faults []string) {
	if i.Name != "" && i.Name == other.Name {
		faults = append(faults, ".issuer: the same as that of")
	}
	if i.isFleet() != other.isFleet() && i.sharesKeys(other) {
		faults = append(faults, ": only one of them grants edge, and it has a key in common with")
	}
	if i.hasPrograms() != other.hasPrograms() && i.sharesKeys(other) {
		faults = append(faults, ": only one of them has subjects, and it has a key in common with")
	}
	if !i.hasPeople() || !other.hasPeople() {
		return faults
	}
	if i.grantsPlatformRoles() && other.grantsPlatformRoles() {
		faults = append(faults, ".grants: only one issuer may grant platform_owner or platform_viewer, as does")
	}
	switch {
	case i.Organizations == nil || other.Organizations == nil:
		faults = append(faults, ".organizations: each of several issuers of people must name its own; so must")
	case i.Organizations.overlap(*other.Organizations):
		faults = append(faults, ".organizations: overlap with those of")
	}
	return faults
}

// grantsPlatformRoles reports whether the issuer grants a role that is not limited to one
// organization.
func (i Issuer) grantsPlatformRoles() bool {
	return slices.Contains(i.Grants, auth.PlatformOwner) || slices.Contains(i.Grants, auth.PlatformViewer)
}

// Fleets lists the names of the issuers that grant edge, in their order.
func Fleets(issuers []Issuer) (names []string) {
	for _, i := range issuers {
		if i.isFleet() {
			names = append(names, i.Name)
		}
	}
	return names
}

func (i Issuer) isFleet() bool { return slices.Contains(i.Grants, auth.Edge) }

func (i Issuer) hasPrograms() bool { return i.Subjects != nil }

func (i Issuer) hasPeople() bool { return !i.isFleet() && !i.hasPrograms() }

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

var settings = []string{"issuer", "audience", "clientIds", "jwksUrl", "jwks", "organizationClaim", "organization", "rolesClaim",
	"roleNames", "grants", "places", "subjects", "organizations", "maxLifetimeSeconds"}

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
		Organization:      r.organization(),
		RolesClaim:        r.claim("rolesClaim", "roles"),
		RoleNames:         r.roleNames(),
		Organizations:     r.organizations(),
		MaxLifetime:       r.lifetime(),
		Places:            r.places(),
		keys:              r.keys(),
	}
	if r.has("subjects") {
		i.Subjects, i.Grants = r.subjects(), []auth.Role{auth.Program}
	} else {
		i.Grants = r.grants(i.RoleNames)
	}
	if i.Organization != "" && i.Organizations == nil {
		i.Organizations = &Organizations{names: []string{i.Organization}}
	}
	if i.isFleet() && i.Organizations != nil {
		r.fault("organizations", "an issuer that grants edge speaks for boxes, so it must have no organizations")
	}
	if i.isFleet() && !r.has("maxLifetimeSeconds") {
		r.fault("maxLifetimeSeconds", "an issuer that grants edge must set it")
	}
	if slices.Equal(i.OrganizationClaim, i.RolesClaim) {
		r.fault("rolesClaim", "the same as organizationClaim")
	}
	if !r.has("audience") && !r.has("clientIds") {
		r.fault("audience", "missing, and so is clientIds")
	}
	if r.has("jwksUrl") && r.has("jwks") {
		r.fault("jwksUrl", "only one of jwksUrl and jwks may be set")
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
	if fault := urlFault(s); fault != "" {
		r.fault(member, "%s", fault)
	}
	return s
}

// urlFault says why a URL cannot be an issuer's. It is empty if the URL can be.
func urlFault(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || len(s) > 255 || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "must be an absolute URL of at most 255 characters"
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return "must be https, or http to this machine"
	case u.User != nil || u.Fragment != "":
		return "must have neither user info nor a fragment"
	}
	return ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// list reads a list of at least one string, none of them empty.
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

// registered are the claims that already have a meaning.
var registered = []string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "token_use"}

func (r *reader) organizations() *Organizations {
	list := r.list("organizations")
	if list == nil {
		return nil
	}
	o, ok := parseOrganizations(list)
	if !ok {
		r.fault("organizations", "must be names of organizations, or one prefix that ends in -, . or _ followed by a *")
	}
	return &o
}

const (
	// lifetime is the longest lifetime of a person's token if the settings do not set one.
	lifetime = 24 * time.Hour
	// maxLifetime bounds the setting, in seconds: ten years, because a box may run that long.
	maxLifetime = 10 * 366 * 24 * 60 * 60
)

func (r *reader) lifetime() time.Duration {
	if !r.has("maxLifetimeSeconds") {
		return lifetime
	}
	raw := r.m["maxLifetimeSeconds"]
	seconds, ok := int64(0), false
	if input.KindOf(raw) == input.NumberKind {
		seconds, ok = input.ParseInteger(string(raw))
	}
	if !ok || seconds < 1 || seconds > maxLifetime {
		r.fault("maxLifetimeSeconds", "must be a whole number from 1 to %d", maxLifetime)
	}
	return time.Duration(seconds) * time.Second
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
		r.fault("jwks", "contains no usable key: RSA of %d to %d bits, EC P-256 or Ed25519, public, with a kid, for signatures", minRSA, maxRSA)
	}
	return keys
}
