// Package canonical writes JSON in the canonical form of RFC 8785 (JCS): sorted names, no white
// space, and one spelling for each number and string. So anyone can compute the hash of a
// document from its meaning.
package canonical

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"wavegate/shared/platform/timestamp"
)

var errTwoValues = errors.New("canonical: the text must be exactly one JSON value")

// JSON is the canonical form of a JSON text. The text's numbers must fit into float64 without
// loss, and the names of its objects must be ASCII.
func JSON(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("canonical: %w", err)
	}
	if d.More() {
		return nil, errTwoValues
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(positiveZero(v)); err != nil {
		return nil, fmt.Errorf("canonical: %w", err)
	}
	return plainSeparators(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}

// Encode is the canonical form of a value's JSON from encoding/json.
func Encode(v any) ([]byte, error) {
	text, err := timestamp.JSON(v)
	if err != nil {
		return nil, fmt.Errorf("canonical: %w", err)
	}
	return JSON(text)
}

// SHA256 is a hash in lower-case hexadecimal.
func SHA256(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// encoding/json does most of the work. It sorts the names of maps by bytes, which for ASCII is
// the order of UTF-16 units, and writes floats as ECMAScript does. The two functions below do
// the rest.

// positiveZero returns a decoded JSON value with 0 instead of each negative zero.
func positiveZero(v any) any {
	switch v := v.(type) {
	case float64:
		if v == 0 {
			return 0.0
		}
	case []any:
		for i := range v {
			v[i] = positiveZero(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = positiveZero(v[name])
		}
	}
	return v
}

// plainSeparators unescapes the two line separators that encoding/json always escapes.
func plainSeparators(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u202`)) {
		return text
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		switch {
		case bytes.HasPrefix(text[i:], []byte(`\u2028`)), bytes.HasPrefix(text[i:], []byte(`\u2029`)):
			out = append(out, 0xe2, 0x80, 0xa8+text[i+5]-'8')
			i += 5
		case text[i] == '\\':
			out = append(out, text[i], text[i+1])
			i++
		default:
			out = append(out, text[i])
		}
	}
	return out
}
