// Package boxtoken is about the tokens that whoever makes a box gives it, for clients that cannot renew an access token,
// and about those of an organization's gateway, which speaks for the boxes of the organization that have none. Such a
// token is random and does not expire. The service is told only its SHA-256: no token crosses the API but in a call that
// it speaks for. The code of an enrolment has the same form. testdata/vectors.json has examples for other languages.
package boxtoken

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
)

// A Prefix is what a token speaks for. The token's text begins with it, so that scanners for leaked secrets can find the
// token.
type Prefix string

// Kinds.
const (
	Box     Prefix = "wavegate-edge"
	Gateway Prefix = "wavegate-gateway"
	// Enrolment is a code with which boxes enrol. The service makes it, shows it once, and lets it expire.
	Enrolment Prefix = "wavegate-enrol"
)

// A Token is what a token's text says.
type Token struct {
	Kind Prefix
	// Subject is the id of the box, of the gateway's organization or of the enrolment.
	Subject string
	// SHA256 is of the whole text, in hexadecimal digits.
	SHA256 string
}

const separator = ":"

// secretBytes is the length of a token's secret. A code is typed now and then, and it expires.
func (k Prefix) secretBytes() int {
	if k == Enrolment {
		return 16
	}
	return 32
}

// New makes a token. Its text is its kind, the subject, and 256 random bits, or 128 of a code, in base64url without padding,
// with colons between them.
func New(kind Prefix, subject string) (text string, t Token) {
	secret := make([]byte, kind.secretBytes())
	_, _ = rand.Read(secret) // it never fails
	text = strings.Join([]string{string(kind), subject, base64.RawURLEncoding.EncodeToString(secret)}, separator)
	return text, Token{kind, subject, hash(text)}
}

// Parse reads a token's text. It does not report whether the service knows the token. The id of a box may contain
// colons, so the secret is what follows the last one.
func Parse(text string) (Token, bool) {
	name, subject, _ := strings.Cut(text, separator)
	end := strings.LastIndex(subject, separator)
	if end < 0 {
		return Token{}, false
	}
	kind, subject, secret := Prefix(name), subject[:end], subject[end+1:]
	if !kind.accepts(subject) {
		return Token{}, false
	}
	bits, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	// The decoder ignores line breaks.
	if err != nil || len(bits) != kind.secretBytes() || base64.RawURLEncoding.EncodeToString(bits) != secret {
		return Token{}, false
	}
	return Token{kind, subject, hash(text)}, true
}

// accepts reports whether a token of the kind can speak for a subject.
func (k Prefix) accepts(subject string) bool {
	switch k {
	case Box:
		return input.EdgeID.Accepts(subject)
	case Gateway:
		return input.Name.Accepts(subject)
	case Enrolment:
		return input.UUID.Accepts(subject)
	}
	return false
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The issuers of these tokens' principals. An issuer of the settings is a URL of https or http, so it is none of them.
const (
	boxes      = "urn:wavegate:edge-tokens"
	gateways   = "urn:wavegate:gateway-tokens:"
	enrolments = "urn:wavegate:edge-enrolments"
)

// Principal is the caller that a token speaks for, given the organization that it belongs to and, for a box, the issuer of
// its access tokens, if it has one.
func (t Token) Principal(organizationID, issuer string) auth.Principal {
	if t.Kind == Enrolment {
		// It is of no organization, whose members may read.
		return auth.Principal{Issuer: enrolments, UserID: t.Subject, Roles: []auth.Role{auth.Enrolment}, Credential: t.SHA256}
	}
	p := auth.Principal{
		Issuer: boxes, UserID: t.Subject, OrganizationID: organizationID, Roles: []auth.Role{auth.Edge}, Credential: t.SHA256, CountedBy: issuer,
	}
	if t.Kind == Gateway {
		p.Issuer, p.CountedBy = gateways+organizationID, ""
	}
	return p
}

// Counted is a box as the fair-use limits count it, given the issuer of its access tokens, if it has one.
func Counted(issuer, edgeID string) auth.Principal {
	return auth.Principal{Issuer: cmp.Or(issuer, boxes), UserID: edgeID, Roles: []auth.Role{auth.Edge}}
}

// KindOf returns what token a caller came with; empty: one of another issuer.
func KindOf(p auth.Principal) Prefix {
	switch {
	case p.Issuer == boxes:
		return Box
	case strings.HasPrefix(p.Issuer, gateways):
		return Gateway
	case p.Issuer == enrolments:
		return Enrolment
	}
	return ""
}
