// Package tokentest makes access tokens, valid and invalid ones, for the tests of package token
// and of the authorizer. Nothing that is deployed imports it.
package tokentest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"

	"github.com/golang-jwt/jwt/v5"
)

// A Key signs tokens.
type Key struct {
	ID     string
	Method jwt.SigningMethod
	Signer crypto.Signer
}

// NewES256 makes a key on P-256.
func NewES256(id string) Key {
	return Key{id, jwt.SigningMethodES256, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))}
}

// NewRS256 makes an RSA key of a size in bits.
func NewRS256(id string, bits int) Key {
	return Key{id, jwt.SigningMethodRS256, must(rsa.GenerateKey(rand.Reader, bits))}
}

// NewEdDSA makes an Ed25519 key.
func NewEdDSA(id string) Key {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return Key{id, jwt.SigningMethodEdDSA, must(private, err)}
}

// JWK is the public key as an issuer publishes it.
func (k Key) JWK() map[string]any {
	jwk := map[string]any{"kid": k.ID, "use": "sig", "alg": k.Method.Alg()}
	switch public := k.Signer.Public().(type) {
	case *rsa.PublicKey:
		jwk["kty"], jwk["n"] = "RSA", Encode(public.N.Bytes())
		jwk["e"] = Encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		size := (public.Curve.Params().BitSize + 7) / 8
		point := must(public.Bytes())
		jwk["kty"], jwk["crv"] = "EC", public.Curve.Params().Name
		jwk["x"], jwk["y"] = Encode(point[1:1+size]), Encode(point[1+size:])
	case ed25519.PublicKey:
		jwk["kty"], jwk["crv"], jwk["x"] = "OKP", "Ed25519", Encode(public)
	}
	return jwk
}

// KeySet is a JWK Set with the public keys.
func KeySet(keys ...Key) string {
	list := make([]any, len(keys))
	for i, k := range keys {
		list[i] = k.JWK()
	}
	return JSON(map[string]any{"keys": list})
}

// A Draft is a token before it is signed.
type Draft struct {
	Key            Key
	Header, Claims map[string]any
}

// WithHeader returns a draft with one header parameter set, or removed if value is nil.
func (d Draft) WithHeader(name string, value any) Draft {
	d.Header = with(d.Header, name, value)
	return d
}

// With returns a draft with one claim set, or removed if value is nil.
func (d Draft) With(name string, value any) Draft {
	d.Claims = with(d.Claims, name, value)
	return d
}

// By returns a draft that the key will sign and that names the key.
func (d Draft) By(k Key) Draft {
	d.Key = k
	return d.WithHeader("alg", k.Method.Alg()).WithHeader("kid", k.ID)
}

func with(m map[string]any, name string, value any) map[string]any {
	m = maps.Clone(m)
	if value == nil {
		delete(m, name)
	} else {
		m[name] = value
	}
	return m
}

// Sign signs the draft with its key, whatever its header says.
func (d Draft) Sign() string { return d.Key.SignText(JSON(d.Header), JSON(d.Claims)) }

// SignText signs a header and claims given as text, which may be invalid JSON.
func (k Key) SignText(header, claims string) string {
	signed := Encode([]byte(header)) + "." + Encode([]byte(claims))
	return signed + "." + Encode(must(k.Method.Sign(signed, k.Signer)))
}

// Encode is base64url without padding.
func Encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// JSON returns a value as JSON.
func JSON(v any) string { return string(must(json.Marshal(v))) }

// must is for calls that cannot fail with the values of the tests.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
