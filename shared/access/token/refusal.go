package token

import (
	"fmt"
	"slices"
)

// A Class is the reason of a refusal, coarse enough for a log line and a metric's dimension.
type Class string

// The classes of tokens that can never become good: their own bytes are against them.
const (
	TooLarge        Class = "too-large"     // over 8 KiB
	Malformed       Class = "malformed"     // not three base64url parts with JSON objects inside
	BadHeader       Class = "header"        // a forbidden or broken header parameter
	BadAlgorithm    Class = "algorithm"     // not on the allow-list
	BadIssuer       Class = "issuer"        // not one of ours
	BadAudience     Class = "audience"      // meant for another service
	BadTokenUse     Class = "token-use"     // an ID token or another kind
	BadClaims       Class = "claims"        // a claim is missing or has no sense
	BadRole         Class = "role"          // a role that the issuer may not grant
	BadOrganization Class = "organization"  // one that the issuer may not speak for
	BadLifetime     Class = "lifetime"      // good for longer than the issuer's tokens may be
	Expired         Class = "expired"       // past exp
	WrongKeyType    Class = "key-type"      // the key is not of the algorithm's type
	BadSignature    Class = "bad-signature" // not signed by the key that it names
)

// The classes of tokens that may become good: what is against them lies outside of the token.
const (
	UnknownKey      Class = "unknown-key"      // the issuer may publish the key yet
	KeysUnavailable Class = "keys-unavailable" // the issuer's keys are out of reach
	NotYetValid     Class = "not-yet-valid"    // before nbf or iat
)

var passing = []Class{UnknownKey, KeysUnavailable, NotYetValid}

// A Refusal is the only kind of error that Verify returns. Nothing of it may be shown to a caller:
// who tries tokens must not learn how far they came.
type Refusal struct {
	Class Class
	// Issuer is the issuer's name when it is one of the settings; what a token merely claims is
	// never repeated here.
	Issuer string
	cause  error
}

func refuse(class Class, format string, args ...any) *Refusal {
	return &Refusal{Class: class, cause: fmt.Errorf(format, args...)}
}

// MayBecomeGood tells whether the same token may be accepted later. If not, the refusal is final and
// may be remembered for this token.
func (r *Refusal) MayBecomeGood() bool { return slices.Contains(passing, r.Class) }

func (r *Refusal) Error() string { return "token: " + string(r.Class) + ": " + r.cause.Error() }

func (r *Refusal) Unwrap() error { return r.cause }
