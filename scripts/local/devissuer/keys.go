package devissuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// DirEnv is the environment variable with the directory of the keys.
const DirEnv = "WAVEGATE_DEV_DIR"

// Dir is the default directory of the keys: the value of WAVEGATE_DEV_DIR, or .dev in the
// repository of the working directory.
func Dir() (string, error) {
	if dir := os.Getenv(DirEnv); dir != "" {
		return dir, nil
	}
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module wavegate\n") {
			return filepath.Join(at, ".dev"), nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("not inside the repository, and %s is not set", DirEnv)
		}
		at = up
	}
}

func loadP256(dir, file string) (issuer, error) {
	generate := func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }
	signer, err := load(filepath.Join(dir, file), generate)
	if err != nil {
		return issuer{}, err
	}
	key, ok := signer.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return issuer{}, fmt.Errorf("%s has no P-256 key; remove the file to make a new one", filepath.Join(dir, file))
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return issuer{}, err
	}
	return publish(issuer{key: key, method: jwt.SigningMethodES256}, map[string]string{
		"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:]),
	}), nil
}

func loadEd25519(dir, file string) (issuer, error) {
	generate := func() (crypto.Signer, error) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	signer, err := load(filepath.Join(dir, file), generate)
	if err != nil {
		return issuer{}, err
	}
	key, ok := signer.(ed25519.PrivateKey)
	if !ok {
		return issuer{}, fmt.Errorf("%s has no Ed25519 key; remove the file to make a new one", filepath.Join(dir, file))
	}
	public := key.Public().(ed25519.PublicKey)
	return publish(issuer{key: key, method: jwt.SigningMethodEdDSA}, map[string]string{
		"kty": "OKP", "crv": "Ed25519", "x": encode(public),
	}), nil
}

// publish completes an issuer with its public key as a JWK and with the key's id. The id is
// computed from the key, so that a new key never has the id of an old one.
func publish(i issuer, jwk map[string]string) issuer {
	sum := sha256.Sum256([]byte(jwk["kty"] + "." + jwk["x"] + "." + jwk["y"]))
	i.keyID = encode(sum[:12])
	jwk["kid"], jwk["use"], jwk["alg"] = i.keyID, "sig", i.method.Alg()
	i.publish = jwk
	return i
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// load reads a private key in PKCS #8, or makes one if the file does not exist.
func load(path string, generate func() (crypto.Signer, error)) (crypto.Signer, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = create(path, generate)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no key in PEM; remove the file to make a new one", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to make a new one", path, err)
	}
	signer, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s has no key that can sign", path)
	}
	return signer, nil
}

// create writes a new key and returns the content of the file. It writes the key to a temporary
// file and links that to its name, so that the name always has a complete key. If two processes
// do this at the same time, the second uses the key of the first.
func create(path string, generate func() (crypto.Signer, error)) ([]byte, error) {
	key, err := generate()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	beside, err := os.CreateTemp(filepath.Dir(path), ".key-*") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(beside.Name()) }()
	if err := errors.Join(
		pem.Encode(beside, &pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		beside.Close(),
	); err != nil {
		return nil, err
	}
	if err := os.Link(beside.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}
