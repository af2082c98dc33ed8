package chain

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// saltBytes is the length of a salt. Without its salt, nobody can find a value by trying all names or addresses.
const saltBytes = 16

// Personal data is not hashed itself. A salted hash, the value's pseudonym, replaces it. So a value and its salt can be
// deleted later: the pseudonym then replaces the value, and the chain remains valid.
//
// Personal data is the caller's address and, in every object with an issuer and a userId, the userId and the name.
func personal(parent map[string]any, pointer, name string) bool {
	switch name {
	case "sourceIp":
		return pointer == "/sourceIp"
	case "userId", "name":
		return parent["issuer"] != nil && parent["userId"] != nil
	}
	return false
}

// Pseudonym is what a link covers instead of a personal value: the HMAC-SHA256 (RFC 2104) of the value in UTF-8, with
// the salt as the key. Both the salt and the pseudonym are base64url without padding. A salt in another form has no
// pseudonym.
func Pseudonym(salt, value string) (string, bool) {
	key, err := base64.RawURLEncoding.DecodeString(salt)
	if err != nil || len(key) < saltBytes {
		return "", false
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(value)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), true
}

// Salted returns the entry with a new random salt for each personal value.
func (e Entry) Salted() (Entry, error) {
	fields, err := decoded(e)
	if err != nil {
		return e, err
	}
	e.Salts = map[string]string{}
	replace(fields, "", func(parent map[string]any, pointer, name, value string) string {
		if value != "" && personal(parent, pointer, name) {
			salt := make([]byte, saltBytes)
			_, _ = rand.Read(salt) // never fails
			e.Salts[pointer] = base64.RawURLEncoding.EncodeToString(salt)
		}
		return value
	})
	return e, nil
}

// covered returns the entry with pseudonyms instead of the values that have a salt.
func (e Entry) covered() (map[string]any, error) {
	fields, err := decoded(e)
	replace(fields, "", func(_ map[string]any, pointer, _, value string) string {
		if pseudonym, ok := Pseudonym(e.Salts[pointer], value); ok {
			return pseudonym
		}
		return value
	})
	return fields, err
}

// replace replaces all strings that are fields of objects. Pointers are JSON Pointers (RFC 6901).
func replace(v any, pointer string, with func(parent map[string]any, pointer, name, value string) string) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			replace(item, pointer+"/"+strconv.Itoa(i), with)
		}
	case map[string]any:
		for name, item := range v {
			at := pointer + "/" + escaped.Replace(name)
			if text, is := item.(string); is {
				v[name] = with(v, at, name, text)
			} else {
				replace(item, at, with)
			}
		}
	}
}

var escaped = strings.NewReplacer("~", "~0", "/", "~1")
