package token

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A ClaimPath says where a token has a value: the name of a claim, then the names of members inside it.
type ClaimPath []string

// parseClaim reads the setting of a claim. Dots separate nested members: "realm_access.roles" is the member roles of
// the claim realm_access. A name with a colon or a slash is a single name, dots included, such as "cognito:groups" or
// "https://acme.example/roles". A list contains the names one by one.
func parseClaim(m members, name string) (ClaimPath, error) {
	if list, err := m.texts(name); err == nil {
		return ClaimPath(list), nil
	}
	text, err := m.text(name)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(text, ":/") {
		return ClaimPath{text}, nil
	}
	return strings.Split(text, "."), nil
}

// isValid reports whether the path has no empty name and does not start with a claim that already has a meaning.
func (c ClaimPath) isValid() bool {
	return len(c) > 0 && !slices.Contains(c, "") && !slices.Contains(registered, c[0])
}

// String returns the path as a setting.
func (c ClaimPath) String() string { return strings.Join(c, ".") }

// within returns the object that contains the claim's value, and the value's name in it. If a part of the path is
// missing or null, so is the value.
func (c ClaimPath) within(m members) (members, string, error) {
	for _, name := range c[:len(c)-1] {
		if m.isAbsent(name) {
			return nil, "", nil
		}
		inner, err := readObject(m[name])
		if err != nil {
			return nil, "", fmt.Errorf("%s: %s %w", c, name, err)
		}
		m = inner
	}
	return m, c[len(c)-1], nil
}

func (m members) isAbsent(name string) bool {
	value, there := m[name]
	return !there || string(value) == "null"
}

// names reads a string, or a list of strings.
func (m members) names(name string) ([]string, error) {
	if one, err := m.text(name); err == nil {
		return []string{one}, nil
	}
	list, err := m.texts(name)
	if err != nil {
		return nil, errors.New("is neither a string nor a list of strings")
	}
	return list, nil
}
