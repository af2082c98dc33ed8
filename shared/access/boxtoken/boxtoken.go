// Package boxtoken is about the tokens that the service itself gives out: to a box, for clients that cannot renew an
// access token, and to an organization's gateway, which speaks for all boxes of the organization. Such a token is
// random, does not expire and is shown once. The service keeps only its SHA-256.
package boxtoken

import (
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
)

// A Token is what a token's text says.
type Token struct {
	Kind Prefix
	// Subject is the id of the box, or of the gateway's organization.
	Subject string
	// SHA256 is of the whole text, in hexadecimal digits.
	SHA256 string
}

// An Issued token is how it is given out, once.
type Issued struct {
	Token string `json:"token"`
}

const (
	separator   = ":"
	secretBytes = 32
)

// New makes a token.
func New(kind Prefix, subject string) (text string, t Token) {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // it never fails
	text = strings.Join([]string{string(kind), subject, base64.RawURLEncoding.EncodeToString(secret)}, separator)
	return text, Token{kind, subject, hash(text)}
}

// Parse reads a token's text. It does not report whether the service gave the token out.
func Parse(text string) (Token, bool) {
	parts := strings.Split(text, separator)
	if len(parts) != 3 {
		return Token{}, false
	}
	kind, subject := Prefix(parts[0]), parts[1]
	if kind != Box && kind != Gateway || !input.Name.Accepts(subject) {
		return Token{}, false
	}
	secret, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	// The decoder ignores line breaks.
	if err != nil || len(secret) != secretBytes || base64.RawURLEncoding.EncodeToString(secret) != parts[2] {
		return Token{}, false
	}
	return Token{kind, subject, hash(text)}, true
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The issuers of these tokens' principals. An issuer of the settings is a URL of https or http, so it is none of them.
const (
	boxes    = "urn:wavegate:edge-tokens"
	gateways = "urn:wavegate:gateway-tokens:"
)

// Principal is the caller that a token speaks for, given the organization that it belongs to.
func (t Token) Principal(organizationID string) auth.Principal {
	p := auth.Principal{
		Issuer: boxes, UserID: t.Subject, OrganizationID: organizationID, Roles: []auth.Role{auth.Edge}, Credential: t.SHA256,
	}
	if t.Kind == Gateway {
		p.Issuer = gateways + organizationID
	}
	return p
}

// KindOf tells what token a caller came with; empty: one of another issuer.
func KindOf(p auth.Principal) Prefix {
	switch {
	case p.Issuer == boxes:
		return Box
	case strings.HasPrefix(p.Issuer, gateways):
		return Gateway
	}
	return ""
}
