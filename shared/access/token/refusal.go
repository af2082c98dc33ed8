package token

import (
	"fmt"
	"slices"
)

// A RefusalReason is the reason for a refusal. There are few enough of them for a metric's dimension.
type RefusalReason string

// These tokens can never become valid, because of their own content.
const (
	TooLarge        RefusalReason = "too-large"     // over 8 KiB
	Malformed       RefusalReason = "malformed"     // not three base64url parts with JSON objects inside
	BadHeader       RefusalReason = "header"        // a forbidden or broken header parameter
	BadAlgorithm    RefusalReason = "algorithm"     // not on the allow-list
	BadIssuer       RefusalReason = "issuer"        // not one of the settings
	BadAudience     RefusalReason = "audience"      // meant for another service
	BadTokenUse     RefusalReason = "token-use"     // an ID token or another kind
	BadClaims       RefusalReason = "claims"        // a claim is missing or malformed
	BadRole         RefusalReason = "role"          // a role that the issuer must not grant
	BadOrganization RefusalReason = "organization"  // one that the issuer must not name
	BadSubject      RefusalReason = "subject"       // a program that the settings do not list
	BadLifetime     RefusalReason = "lifetime"      // valid for longer than the issuer's tokens may be
	Expired         RefusalReason = "expired"       // past exp
	WrongKeyType    RefusalReason = "key-type"      // the key is not of the algorithm's type
	BadSignature    RefusalReason = "bad-signature" // not signed by the key that it names
)

// These tokens may become valid, because the reason is outside of the token.
const (
	UnknownKey      RefusalReason = "unknown-key"      // the issuer may still publish the key
	KeysUnavailable RefusalReason = "keys-unavailable" // the issuer's keys cannot be fetched
	NotYetValid     RefusalReason = "not-yet-valid"    // before nbf or iat
)

// The authorizer refuses these itself, and they may become valid, too.
const (
	NotIssued     RefusalReason = "unknown"        // has the form of a box's or a gateway's token, but is unknown or no longer valid
	SeveralTokens RefusalReason = "several-tokens" // more than one Authorization header, of which one may be good
)

// Strangers are the reasons that the authorizer reports as errors, and that anyone can bring about.
var Strangers = []RefusalReason{UnknownKey, NotYetValid, NotIssued, SeveralTokens}

var temporary = []RefusalReason{UnknownKey, KeysUnavailable, NotYetValid}

// A Refusal is the only error type that Verify returns. Never show it to a caller: someone who
// tries tokens must not learn which check failed.
type Refusal struct {
	Reason RefusalReason
	// Issuer is the issuer's name if it is in the settings. A name that a token only claims is
	// never repeated here.
	Issuer string
	cause  error
}

func refuse(class RefusalReason, format string, args ...any) *Refusal {
	return &Refusal{Reason: class, cause: fmt.Errorf(format, args...)}
}

// MayBecomeGood reports whether the same token may be accepted later. If false, the refusal is
// final, and a cache may keep it for this token.
func (r *Refusal) MayBecomeGood() bool { return slices.Contains(temporary, r.Reason) }

func (r *Refusal) Error() string { return "token: " + string(r.Reason) + ": " + r.cause.Error() }

func (r *Refusal) Unwrap() error { return r.cause }
