package token

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// A key verifies signatures of exactly one algorithm.
type key struct {
	algorithm string
	public    crypto.PublicKey
}

// fixedKeys are keys from the settings, by id. They never change while the function runs.
type fixedKeys map[string]key

func (f fixedKeys) find(_ context.Context, id string) (key, error) {
	if k, ok := f[id]; ok {
		return k, nil
	}
	return key{}, errUnknownKey
}

// Bounds of RSA keys, in bits. Smaller keys are too weak (RFC 7518 §3.3). Larger ones make
// checking a signature so slow that tokens could be used to overload the service.
const (
	minRSA = 2048
	maxRSA = 4096
)

// parseKeySet reads a JWK Set (RFC 7517 §5) and returns the usable keys by id. It skips a key
// with another use or algorithm, a weak key and a broken key, because an issuer may publish keys
// for other purposes. A set without a usable key is valid: an issuer revokes its keys that way.
//
// If two usable keys share an id, it skips both, because it cannot know which one is meant.
func parseKeySet(data []byte) (map[string]key, error) {
	set, err := readObject(data)
	if err != nil {
		return nil, fmt.Errorf("the key set %w", err)
	}
	var list []json.RawMessage
	if json.Unmarshal(set["keys"], &list) != nil || list == nil {
		return nil, errors.New("the key set has no list of keys")
	}
	keys := make(map[string]key)
	var shared []string
	for _, raw := range list {
		id, k, err := parseKey(raw)
		if err != nil {
			continue
		}
		if _, taken := keys[id]; taken {
			shared = append(shared, id)
		}
		keys[id] = k
	}
	for _, id := range shared {
		delete(keys, id)
	}
	return keys, nil
}

// parseKey reads one JWK (RFC 7517 §4; RFC 7518 §6 for RSA and EC, RFC 8037 §2 for Ed25519). The
// error says why the key is not usable.
func parseKey(raw []byte) (id string, k key, err error) {
	m, err := readObject(raw)
	if err != nil {
		return "", key{}, err
	}
	if id, err = m.text("kid"); err != nil {
		return "", key{}, err
	}
	if id == "" || len(id) > maxKeyID {
		return "", key{}, errors.New("kid is empty or too long")
	}
	if _, there := m["d"]; there {
		return "", key{}, errors.New("it is a private key, which must not be published")
	}
	if use, err := m.optionalText("use"); err != nil || use != "" && use != "sig" {
		return "", key{}, errors.New("use is not sig")
	}
	if _, there := m["key_ops"]; there {
		if ops, err := m.texts("key_ops"); err != nil || !slices.Contains(ops, "verify") {
			return "", key{}, errors.New("key_ops does not have verify")
		}
	}
	kty, err := m.text("kty")
	if err != nil {
		return "", key{}, err
	}
	switch kty {
	case "RSA":
		k.algorithm = "RS256"
		k.public, err = parseRSA(m)
	case "EC":
		k.algorithm = "ES256"
		k.public, err = parseP256(m)
	case "OKP":
		k.algorithm = "EdDSA"
		k.public, err = parseEd25519(m)
	default:
		err = errors.New("kty is unknown")
	}
	if err != nil {
		return "", key{}, err
	}
	if alg, err := m.optionalText("alg"); err != nil || alg != "" && alg != k.algorithm {
		return "", key{}, fmt.Errorf("alg is not %s", k.algorithm)
	}
	return id, k, nil
}

func parseRSA(m members) (crypto.PublicKey, error) {
	n, err := m.bytes("n")
	if err != nil {
		return nil, err
	}
	e, err := m.bytes("e")
	if err != nil {
		return nil, err
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	if bits := modulus.BitLen(); bits < minRSA || bits > maxRSA || modulus.Bit(0) == 0 {
		return nil, fmt.Errorf("n is even or not of %d to %d bits", minRSA, maxRSA)
	}
	// 65537 is the smallest exponent that FIPS 186-5 §5.1 allows; crypto/rsa takes up to 31
	// bits.
	if bits := exponent.BitLen(); bits < 17 || bits > 31 || exponent.Bit(0) == 0 {
		return nil, errors.New("e is even or not of 17 to 31 bits")
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, nil
}

func parseP256(m members) (crypto.PublicKey, error) {
	if crv, err := m.text("crv"); err != nil || crv != "P-256" {
		return nil, errors.New("crv is not P-256")
	}
	x, err := m.bytes("x")
	if err != nil {
		return nil, err
	}
	y, err := m.bytes("y")
	if err != nil {
		return nil, err
	}
	if len(x) != 32 || len(y) != 32 {
		return nil, errors.New("x or y has not 32 bytes")
	}
	// SEC 1 §2.3.3, uncompressed. It refuses a point that is not on the curve.
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
}

func parseEd25519(m members) (crypto.PublicKey, error) {
	if crv, err := m.text("crv"); err != nil || crv != "Ed25519" {
		return nil, errors.New("crv is not Ed25519")
	}
	x, err := m.bytes("x")
	if err != nil {
		return nil, err
	}
	if len(x) != ed25519.PublicKeySize {
		return nil, errors.New("x has not 32 bytes")
	}
	return ed25519.PublicKey(x), nil
}

func (m members) bytes(name string) ([]byte, error) {
	s, err := m.text(name)
	if err != nil {
		return nil, err
	}
	b, err := decode(s)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return b, nil
}
