package token

import (
	"fmt"
	"slices"
)

// A Class is the reason for a refusal. There are few enough of them for a metric's dimension.
type Class string

// These tokens can never become valid, because of their own content.
const (
	TooLarge        Class = "too-large"     // over 8 KiB
	Malformed       Class = "malformed"     // not three base64url parts with JSON objects inside
	BadHeader       Class = "header"        // a forbidden or broken header parameter
	BadAlgorithm    Class = "algorithm"     // not on the allow-list
	BadIssuer       Class = "issuer"        // not one of the settings
	BadAudience     Class = "audience"      // meant for another service
	BadTokenUse     Class = "token-use"     // an ID token or another kind
	BadClaims       Class = "claims"        // a claim is missing or malformed
	BadRole         Class = "role"          // a role that the issuer may not grant
	BadOrganization Class = "organization"  // one that the issuer may not speak for
	BadLifetime     Class = "lifetime"      // valid for longer than the issuer's tokens may be
	Expired         Class = "expired"       // past exp
	WrongKeyType    Class = "key-type"      // the key is not of the algorithm's type
	BadSignature    Class = "bad-signature" // not signed by the key that it names
)

// These tokens may become valid, because the reason is outside of the token.
const (
	UnknownKey      Class = "unknown-key"      // the issuer may still publish the key
	KeysUnavailable Class = "keys-unavailable" // the issuer's keys cannot be fetched
	NotYetValid     Class = "not-yet-valid"    // before nbf or iat
)

var temporary = []Class{UnknownKey, KeysUnavailable, NotYetValid}

// A Refusal is the only error type that Verify returns. Never show it to a caller: someone who
// tries tokens must not learn which check failed.
type Refusal struct {
	Class Class
	// Issuer is the issuer's name if it is in the settings. A name that a token only claims is
	// never repeated here.
	Issuer string
	cause  error
}

func refuse(class Class, format string, args ...any) *Refusal {
	return &Refusal{Class: class, cause: fmt.Errorf(format, args...)}
}

// MayBecomeGood tells whether the same token may be accepted later. If false, the refusal is
// final, and a cache may keep it for this token.
func (r *Refusal) MayBecomeGood() bool { return slices.Contains(temporary, r.Class) }

func (r *Refusal) Error() string { return "token: " + string(r.Class) + ": " + r.cause.Error() }

func (r *Refusal) Unwrap() error { return r.cause }
