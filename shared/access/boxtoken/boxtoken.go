// Package boxtoken is about two kinds of tokens. Whoever makes a box gives it its own token, for clients that cannot
// renew an access token. An organization's gateway has a token with which it calls for those boxes of the organization
// that have no token of their own. Such a token is random and does not expire. The service knows only its SHA-256: a
// token crosses the API only in the calls that it authenticates. The code of an enrolment has the same form.
// testdata/vectors.json has examples for other languages.
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

// A Prefix is a kind of token. The token's text begins with it, so that scanners for leaked secrets can find the token.
type Prefix string

// Kinds.
const (
	Box     Prefix = "wavegate-edge"
	Gateway Prefix = "wavegate-gateway"
	// Enrolment is a code with which boxes enrol. The service makes it, shows it once, and lets it expire.
	Enrolment Prefix = "wavegate-enrol"
)

// A Token is the content of a token's text.
type Token struct {
	Kind Prefix
	// Subject is the id of the box, of the gateway's organization or of the enrolment. For a foreign token, it is that of the box.
	Subject string
	// SHA256 is of the whole text, in hexadecimal digits.
	SHA256 string
	// Foreign is set for a token of another form, and Weak for one of them that is so short that it can be guessed.
	Foreign, Weak bool
}

const separator = ":"

// secretBytes is the length of a token's secret. A code's is shorter, because people sometimes type a code, and it
// expires.
func (k Prefix) secretBytes() int {
	if k == Enrolment {
		return 16
	}
	return 32
}

// New makes a token. Its text is its kind, the subject, and 256 random bits, or 128 for a code, in base64url without
// padding, with colons between them.
func New(kind Prefix, subject string) (text string, t Token) {
	secret := make([]byte, kind.secretBytes())
	_, _ = rand.Read(secret) // it never fails
	text = strings.Join([]string{string(kind), subject, base64.RawURLEncoding.EncodeToString(secret)}, separator)
	return text, Token{Kind: kind, Subject: subject, SHA256: Hash(text)}
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
	return Token{Kind: kind, Subject: subject, SHA256: Hash(text)}, true
}

// A token of another form is not longer than mostForeign. It is weak if it is shorter than LeastForeign.
const (
	LeastForeign = 20
	mostForeign  = 512
)

// Foreign reads a box's token of another form: an earlier server gave it to the box, and the box still sends it. It does not
// name the box, so the call does. What looks like a token of this service or like a JWT is none.
func Foreign(edgeID, text string) (Token, bool) { return foreign(Box, edgeID, text) }

// ForeignGateway is Foreign for the token of the gateway of the box's organization.
func ForeignGateway(edgeID, text string) (Token, bool) { return foreign(Gateway, edgeID, text) }

func foreign(kind Prefix, edgeID, text string) (Token, bool) {
	jwt := strings.HasPrefix(text, "eyJ") && strings.Count(text, ".") == 2
	if jwt || strings.HasPrefix(text, "wavegate-") || text == "" || len(text) > mostForeign || !input.EdgeID.Accepts(edgeID) {
		return Token{}, false
	}
	return Token{Kind: kind, Subject: edgeID, SHA256: Hash(text), Foreign: true, Weak: len(text) < LeastForeign}, true
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

// Hash is what is kept of a token, and what a box is registered with.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The issuers of these tokens' principals. An issuer in the settings is a URL of https or http, so it is never one of
// them.
const (
	boxes      = "urn:wavegate:edge-tokens"
	gateways   = "urn:wavegate:gateway-tokens:"
	enrolments = "urn:wavegate:edge-enrolments"
)

// Principal is the caller that a token authenticates, given its organization and, for a box, the issuer of its access
// tokens, if it has one.
func (t Token) Principal(organizationID, issuer string) auth.Principal {
	if t.Kind == Enrolment {
		// It has no organization, because members of an organization may read its data.
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

// Counted is a box of an organization as the fair-use limits count it, given the issuer of its access tokens, if it has one.
func Counted(issuer, organizationID, edgeID string) auth.Principal {
	return auth.Principal{Issuer: cmp.Or(issuer, boxes), UserID: edgeID, OrganizationID: organizationID, Roles: []auth.Role{auth.Edge}}
}

// IsGateway reports whether an issuer is that of an organization's gateway.
func IsGateway(issuer string) bool { return strings.HasPrefix(issuer, gateways) }

// KindOf returns the kind of token that a caller sent, or an empty Prefix for the token of another issuer.
func KindOf(p auth.Principal) Prefix {
	switch {
	case p.Issuer == boxes:
		return Box
	case IsGateway(p.Issuer):
		return Gateway
	case p.Issuer == enrolments:
		return Enrolment
	}
	return ""
}

// CallerFor returns the caller of a call for a box: a gateway calls as the box. The gateway's organization stays part of
// the caller.
func CallerFor(caller auth.Principal, edgeID string) auth.Principal {
	if KindOf(caller) == Gateway && input.EdgeID.Accepts(edgeID) {
		caller.UserID = edgeID
	}
	return caller
}
