package token

import "strings"

const (
	// maxToken bounds a token, in bytes. API Gateway takes 10,240 bytes of headers in all.
	maxToken = 8 << 10
	// maxKeyID bounds a key's id, in bytes.
	maxKeyID = 128
)

// parsed is a token with a valid form. Its claims are not yet verified.
type parsed struct {
	algorithm string // on the allow-list
	keyID     string // 1 to maxKeyID bytes
	claims    claims
	signed    string // what the signature covers
	signature []byte
}

// parse reads the compact form of RFC 7515 §3.1.
func parse(raw string) (parsed, error) {
	if len(raw) > maxToken {
		return parsed{}, refuse(TooLarge, "%d bytes", len(raw))
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return parsed{}, refuse(Malformed, "%d parts", len(parts))
	}
	header, err := decodeObject(parts[0])
	if err != nil {
		return parsed{}, refuse(Malformed, "header: %w", err)
	}
	t := parsed{signed: parts[0] + "." + parts[1]}
	if t.algorithm, t.keyID, err = readHeader(header); err != nil {
		return parsed{}, err
	}
	payload, err := decodeObject(parts[1])
	if err != nil {
		return parsed{}, refuse(Malformed, "claims: %w", err)
	}
	if t.claims, err = readClaims(payload); err != nil {
		return parsed{}, err
	}
	if t.signature, err = decode(parts[2]); err != nil {
		return parsed{}, refuse(Malformed, "signature: %w", err)
	}
	return t, nil
}

// embedded are the header parameters that carry a key or point to one (RFC 8725 §3.10). crit is
// refused too, because it asks for extensions that this package does not have (RFC 7515 §4.1.11).
// Ignoring these parameters would be safe, but no trusted issuer sends one.
var embedded = []string{"crit", "jku", "jwk", "x5u", "x5c"}

func readHeader(h members) (algorithm, keyID string, err error) {
	if algorithm, err = h.text("alg"); err != nil {
		return "", "", refuse(BadHeader, "%w", err)
	}
	if _, ok := methods[algorithm]; !ok {
		return "", "", refuse(BadAlgorithm, "alg is not on the list")
	}
	for _, name := range embedded {
		if _, there := h[name]; there {
			return "", "", refuse(BadHeader, "%s is not accepted", name)
		}
	}
	if keyID, err = h.text("kid"); err != nil {
		return "", "", refuse(BadHeader, "%w", err)
	}
	if keyID == "" || len(keyID) > maxKeyID {
		return "", "", refuse(BadHeader, "kid has %d bytes", len(keyID))
	}
	if _, there := h["typ"]; there {
		typ, err := h.text("typ")
		if err != nil {
			return "", "", refuse(BadHeader, "%w", err)
		}
		// typ is a media type: case does not matter, and "application/" may be left out (RFC
		// 7515 §4.1.9).
		switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
		case "jwt", "at+jwt":
		default:
			return "", "", refuse(BadHeader, "typ is of another kind of token")
		}
	}
	return algorithm, keyID, nil
}
