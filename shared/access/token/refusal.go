package token

import (
	"fmt"
	"slices"
)

// A Reason is the reason for a refusal. There are few enough of them for a metric's dimension.
type Reason string

// These tokens can never become valid, because of their own content.
const (
	TooLarge        Reason = "too-large"     // over 8 KiB
	Malformed       Reason = "malformed"     // not three base64url parts with JSON objects inside
	BadHeader       Reason = "header"        // a forbidden or broken header parameter
	BadAlgorithm    Reason = "algorithm"     // not on the allow-list
	BadIssuer       Reason = "issuer"        // not one of the settings
	BadAudience     Reason = "audience"      // meant for another service
	BadTokenUse     Reason = "token-use"     // an ID token or another kind
	BadClaims       Reason = "claims"        // a claim is missing or malformed
	BadRole         Reason = "role"          // a role that the issuer may not grant
	BadOrganization Reason = "organization"  // one that the issuer may not speak for
	BadLifetime     Reason = "lifetime"      // valid for longer than the issuer's tokens may be
	Expired         Reason = "expired"       // past exp
	WrongKeyType    Reason = "key-type"      // the key is not of the algorithm's type
	BadSignature    Reason = "bad-signature" // not signed by the key that it names
)

// These tokens may become valid, because the reason is outside of the token.
const (
	UnknownKey      Reason = "unknown-key"      // the issuer may still publish the key
	KeysUnavailable Reason = "keys-unavailable" // the issuer's keys cannot be fetched
	NotYetValid     Reason = "not-yet-valid"    // before nbf or iat
)

var temporary = []Reason{UnknownKey, KeysUnavailable, NotYetValid}

// A Refusal is the only error type that Verify returns. Never show it to a caller: someone who
// tries tokens must not learn which check failed.
type Refusal struct {
	Reason Reason
	// Issuer is the issuer's name if it is in the settings. A name that a token only claims is
	// never repeated here.
	Issuer string
	cause  error
}

func refuse(class Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: class, cause: fmt.Errorf(format, args...)}
}

// MayBecomeGood tells whether the same token may be accepted later. If false, the refusal is
// final, and a cache may keep it for this token.
func (r *Refusal) MayBecomeGood() bool { return slices.Contains(temporary, r.Reason) }

func (r *Refusal) Error() string { return "token: " + string(r.Reason) + ": " + r.cause.Error() }

func (r *Refusal) Unwrap() error { return r.cause }
