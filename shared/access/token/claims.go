package token

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
)

// claims are the claims of a token. They are well formed, but not yet verified.
type claims struct {
	issuer    string
	subject   string // 1 to 255 printable ASCII characters (OpenID Connect Core §2)
	audience  []string
	clientID  string
	tokenUse  string
	expires   time.Time
	notBefore time.Time // zero if the token has none
	issuedAt  time.Time // zero if the token has none
	authTime  time.Time // zero if the token has none
	all       members   // for the claims whose names are settings
}

// latest is the end of the year 9999, in seconds since 1970. Later dates are refused.
const latest = 253402300799

// readClaims reads the claims that every token has.
func readClaims(m members) (claims, error) {
	c := claims{all: m}
	var err error
	if c.issuer, err = m.text("iss"); err != nil {
		return claims{}, refuse(BadClaims, "%w", err)
	}
	if c.subject, err = m.text("sub"); err != nil {
		return claims{}, refuse(BadClaims, "%w", err)
	}
	if !isSubject(c.subject) {
		return claims{}, refuse(BadClaims, "sub is empty, too long or not printable")
	}
	if c.clientID, err = m.optionalText("client_id"); err != nil {
		return claims{}, refuse(BadClaims, "%w", err)
	}
	if _, there := m["token_use"]; there {
		if c.tokenUse, err = m.text("token_use"); err != nil || c.tokenUse == "" {
			return claims{}, refuse(BadTokenUse, "token_use is empty or not a string")
		}
	}
	if c.audience, err = readAudience(m); err != nil {
		return claims{}, err
	}
	for name, date := range map[string]*time.Time{"exp": &c.expires, "nbf": &c.notBefore, "iat": &c.issuedAt, "auth_time": &c.authTime} {
		if *date, err = readDate(m, name); err != nil {
			return claims{}, err
		}
	}
	if c.expires.IsZero() {
		return claims{}, refuse(BadClaims, "exp is missing")
	}
	return c, nil
}

func isSubject(s string) bool {
	printable := func(r rune) bool { return r >= ' ' && r <= '~' }
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, func(r rune) bool { return !printable(r) })
}

// readAudience reads aud: one string or an array of strings (RFC 7519 §4.1.3). A missing
// audience differs from an empty one, which is refused because it does not name this service.
func readAudience(m members) ([]string, error) {
	if _, there := m["aud"]; !there {
		return nil, nil
	}
	if one, err := m.text("aud"); err == nil {
		return []string{one}, nil
	}
	list, err := m.texts("aud")
	if err != nil || len(list) == 0 {
		return nil, refuse(BadClaims, "aud is neither a string nor a list of strings")
	}
	return list, nil
}

// readDate reads a NumericDate (RFC 7519 §2), rounded down to the second. It is zero if the
// claim is missing.
func readDate(m members, name string) (time.Time, error) {
	value, there := m[name]
	if !there {
		return time.Time{}, nil
	}
	var seconds *float64
	if json.Unmarshal(value, &seconds) != nil || seconds == nil || *seconds < 0 || *seconds > latest {
		return time.Time{}, refuse(BadClaims, "%s is not a date", name)
	}
	return time.Unix(int64(math.Floor(*seconds)), 0).UTC(), nil
}

// organization reads the caller's organization; empty if the claim is missing, null or empty. A provider may list the
// organizations of a person: then there must be exactly one, because a token acts for one.
func (c claims) organization(at ClaimPath) (string, error) {
	m, name, err := at.within(c.all)
	if err != nil {
		return "", refuse(BadClaims, "%w", err)
	}
	if m.isAbsent(name) {
		return "", nil
	}
	names, err := m.names(name)
	switch {
	case err != nil || len(names) > 1:
		return "", refuse(BadClaims, "the organization is not exactly one id")
	case len(names) == 0 || names[0] == "":
		return "", nil
	case !input.Name.Accepts(names[0]):
		return "", refuse(BadClaims, "the organization is not an id")
	}
	return names[0], nil
}

// roles reads the known roles, each once, from an array of strings or one string with spaces. Other names belong to
// other services and are ignored. If the settings give the issuer's names for the roles, only those names count.
func (c claims) roles(at ClaimPath, called map[string]auth.Role) ([]auth.Role, error) {
	m, name, err := at.within(c.all)
	if err != nil {
		return nil, refuse(BadClaims, "%w", err)
	}
	if m.isAbsent(name) {
		return nil, nil
	}
	names, err := m.names(name)
	if err != nil {
		return nil, refuse(BadClaims, "the roles are neither a string nor a list of strings")
	}
	if joined, err := m.text(name); err == nil {
		names = append(names, strings.Fields(joined)...)
	}
	var roles []auth.Role
	for _, role := range auth.Roles {
		means := func(name string) bool { return name == string(role) }
		if called != nil {
			means = func(name string) bool { return called[name] == role }
		}
		if slices.ContainsFunc(names, means) {
			roles = append(roles, role)
		}
	}
	return roles, nil
}

// name reads what the issuer calls a person. It is empty if the claim is missing or cannot be
// displayed.
func (c claims) name() string {
	text, err := c.all.text("name")
	if err != nil {
		return ""
	}
	shown, fault, _ := input.DisplayName.Apply(text)
	if fault != "" {
		return ""
	}
	return shown
}
