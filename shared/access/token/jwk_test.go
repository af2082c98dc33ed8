package token_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

// trust returns the class of refusal for a token signed by a key when the issuer publishes the
// given JWKs.
func trust(t *testing.T, key tokentest.Key, jwks ...map[string]any) token.RefusalReason {
	t.Helper()
	p := newPublisher(t)
	p.publish(tokentest.JSON(map[string]any{"keys": jwks}))
	return p.try(t.Context(), key)
}

func TestKeySet_UsableKey_IsAccepted(t *testing.T) {
	rsaKey, ec, ed := tokentest.NewRS256("rs", 2048), tokentest.NewES256("es"), tokentest.NewEdDSA("ed")
	without := func(k tokentest.Key, names ...string) map[string]any {
		jwk := k.JWK()
		for _, name := range names {
			delete(jwk, name)
		}
		return jwk
	}
	for name, c := range map[string]struct {
		key tokentest.Key
		jwk map[string]any
	}{
		"RSA":                     {rsaKey, rsaKey.JWK()},
		"RSA without use and alg": {rsaKey, without(rsaKey, "use", "alg")},
		"P-256":                   {ec, ec.JWK()},
		"P-256 without alg":       {ec, without(ec, "alg")},
		"Ed25519":                 {ed, ed.JWK()},
		"Ed25519 without alg":     {ed, without(ed, "alg")},
		"key_ops with verify":     {ec, set(without(ec, "use"), "key_ops", []string{"verify"})},
		"with a certificate":      {ec, set(ec.JWK(), "x5c", []string{"MIIB"})},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, trust(t, c.key, c.jwk), "", "refused as")
		})
	}
}

func set(jwk map[string]any, name string, value any) map[string]any {
	jwk[name] = value
	return jwk
}

// An unusable key is skipped, and the usable keys beside it still work.
func TestKeySet_UnusableKey_IsSkipped(t *testing.T) {
	ec, ed, rsaKey := tokentest.NewES256("es"), tokentest.NewEdDSA("ed"), tokentest.NewRS256("rs", 2048)
	p384 := expect.Value(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))(t)
	big := tokentest.Key{ID: "big", Method: jwt.SigningMethodES384, Signer: p384}
	small := tokentest.NewRS256("small", 1024)
	other := tokentest.NewES256("other")
	even := func(k tokentest.Key) map[string]any {
		n := make([]byte, 256)
		n[0] = 0x80
		return set(k.JWK(), "n", tokentest.Encode(n))
	}
	point := expect.Value(ec.Signer.Public().(*ecdsa.PublicKey).Bytes())(t)
	huge := make([]byte, 513)
	huge[0], huge[512] = 1, 1
	for name, c := range map[string]struct {
		key tokentest.Key
		jwk map[string]any
	}{
		"for encryption":                     {ec, set(ec.JWK(), "use", "enc")},
		"use is not a string":                {ec, set(ec.JWK(), "use", 1)},
		"key_ops without verify":             {ec, set(ec.JWK(), "key_ops", []string{"sign"})},
		"key_ops is not a list":              {ec, set(ec.JWK(), "key_ops", "verify")},
		"alg of another kind":                {ec, set(ec.JWK(), "alg", "RS256")},
		"alg of another hash":                {rsaKey, set(rsaKey.JWK(), "alg", "RS512")},
		"no kid":                             {ec, set(ec.JWK(), "kid", "")},
		"oversized kid":                      {ec, set(ec.JWK(), "kid", string(make([]byte, 129)))},
		"no kty":                             {ec, set(ec.JWK(), "kty", "")},
		"a secret":                           {ec, map[string]any{"kty": "oct", "kid": "es", "k": "c2VjcmV0"}},
		"a private key":                      {ec, set(ec.JWK(), "d", tokentest.Encode(make([]byte, 32)))},
		"P-384":                              {ec, set(big.JWK(), "kid", "es")},
		"another curve by name only":         {ec, set(ec.JWK(), "crv", "secp256k1")},
		"P-256 by name only":                 {ec, set(set(set(big.JWK(), "kid", "es"), "crv", "P-256"), "alg", "ES256")},
		"point not on the curve":             {ec, set(ec.JWK(), "x", ec.JWK()["y"])},
		"decimal point without digits":       {ec, set(set(ec.JWK(), "x", tokentest.Encode(make([]byte, 32))), "y", tokentest.Encode(make([]byte, 32)))},
		"coordinate missing":                 {ec, set(ec.JWK(), "y", nil)},
		"coordinates split at another place": {ec, set(set(ec.JWK(), "x", tokentest.Encode(point[1:32])), "y", tokentest.Encode(point[32:]))},
		"coordinate not base64url":           {ec, set(ec.JWK(), "y", "==")},
		"RSA of 1024 bits":                   {rsaKey, set(small.JWK(), "kid", "rs")},
		"RSA of 4097 bits":                   {rsaKey, set(rsaKey.JWK(), "n", tokentest.Encode(huge))},
		"RSA with an even modulus":           {rsaKey, even(rsaKey)},
		"RSA with the exponent 1":            {rsaKey, set(rsaKey.JWK(), "e", "AQ")},
		"RSA with the exponent 3":            {rsaKey, set(rsaKey.JWK(), "e", "Aw")},
		"RSA with an even exponent":          {rsaKey, set(rsaKey.JWK(), "e", "AQAA")},
		"RSA with an exponent of 2^32":       {rsaKey, set(rsaKey.JWK(), "e", "AQAAAAE")},
		"Ed25519 cut short":                  {ed, set(ed.JWK(), "x", tokentest.Encode(make([]byte, 31)))},
		"X25519":                             {ed, set(ed.JWK(), "crv", "X25519")},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, trust(t, c.key, c.jwk, other.JWK()), token.UnknownKey, "the unusable key")
			expect.Equal(t, trust(t, other, c.jwk, other.JWK()), "", "the usable key beside it: refused as")
		})
	}
}

func TestKeySet_OneIDForTwoKeys_SkipsBoth(t *testing.T) {
	a, b, other := tokentest.NewES256("same"), tokentest.NewEdDSA("same"), tokentest.NewES256("other")
	for _, k := range []tokentest.Key{a, b} {
		expect.Equal(t, trust(t, k, a.JWK(), b.JWK(), other.JWK()), token.UnknownKey, "%s", k.Method.Alg())
	}
}

// ParseIssuers refuses inline keys that can never be used.
func TestVerify_InlineKeys_UnknownKeyID_MayBecomeGood(t *testing.T) {
	w := tokentest.NewWorld(noon)
	_, err := verifier(t, w).Verify(t.Context(), w.Person().By(tokentest.NewES256("new")).Sign())
	if r, ok := errors.AsType[*token.Refusal](err); !ok || !r.MayBecomeGood() {
		t.Errorf("error %v", err)
	}
}
