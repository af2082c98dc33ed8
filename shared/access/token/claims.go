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

// organization reads the caller's organization; empty if the claim is missing, null or empty.
func (c claims) organization(name string) (string, error) {
	if c.isAbsent(name) {
		return "", nil
	}
	s, err := c.all.text(name)
	if err != nil || s != "" && !input.Name.Accepts(s) {
		return "", refuse(BadClaims, "the organization is not an id")
	}
	return s, nil
}

// roles reads the known roles, each once, from an array of strings or one string with spaces.
// Other names belong to other services and are ignored.
func (c claims) roles(name string) ([]auth.Role, error) {
	if c.isAbsent(name) {
		return nil, nil
	}
	var names []string
	if joined, err := c.all.text(name); err == nil {
		names = strings.Fields(joined)
	} else if names, err = c.all.texts(name); err != nil {
		return nil, refuse(BadClaims, "the roles are neither a string nor a list of strings")
	}
	var roles []auth.Role
	for _, role := range auth.Roles {
		if slices.Contains(names, string(role)) {
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

func (c claims) isAbsent(name string) bool {
	value, there := c.all[name]
	return !there || string(value) == "null"
}
