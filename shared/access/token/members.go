package token

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"wavegate/shared/platform/input"
)

// members are the members of a JSON object, by their exact names. Two members with one name are
// an error (RFC 8725 §2.4, RFC 7519 §4), because other readers may use the other one.
type members map[string]json.RawMessage

// readObject reads exactly one JSON object.
func readObject(data []byte) (members, error) {
	if err := input.CheckJSON(data); err != nil {
		return nil, err
	}
	if input.KindOf(data) != input.ObjectKind {
		return nil, errors.New("is not a JSON object")
	}
	m := members{}
	for _, one := range input.Members(data) {
		if _, twice := m[one.Name]; twice {
			return nil, errors.New("has two members of one name")
		}
		m[one.Name] = one.Value
	}
	return m, nil
}

// text reads a required string.
func (m members) text(name string) (string, error) {
	value, there := m[name]
	if !there {
		return "", fmt.Errorf("%s is missing", name)
	}
	var s *string
	if json.Unmarshal(value, &s) != nil || s == nil {
		return "", fmt.Errorf("%s is not a string", name)
	}
	return *s, nil
}

// optionalText reads a string that may be missing.
func (m members) optionalText(name string) (string, error) {
	if _, there := m[name]; !there {
		return "", nil
	}
	return m.text(name)
}

// texts reads a required array of strings.
func (m members) texts(name string) ([]string, error) {
	var pointers []*string
	if json.Unmarshal(m[name], &pointers) != nil || pointers == nil {
		return nil, fmt.Errorf("%s is not a list of strings", name)
	}
	list := make([]string, len(pointers))
	for i, s := range pointers {
		if s == nil {
			return nil, fmt.Errorf("%s is not a list of strings", name)
		}
		list[i] = *s
	}
	return list, nil
}

// decode reads base64url without padding, in its one canonical form. The standard decoder skips
// line breaks, which would allow many forms of one token.
func decode(part string) ([]byte, error) {
	if strings.ContainsAny(part, "\r\n") {
		return nil, errors.New("has a line break")
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, errors.New("is not base64url")
	}
	return b, nil
}

func decodeObject(part string) (members, error) {
	b, err := decode(part)
	if err != nil {
		return nil, err
	}
	return readObject(b)
}
