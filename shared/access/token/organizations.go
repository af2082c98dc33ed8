package token

import (
	"slices"
	"strings"

	"wavegate/shared/platform/value"
)

// Organizations are those that an issuer of people may speak for: exact names, or all names of one prefix.
type Organizations struct {
	names  []string
	prefix string
}

// wildcard stands behind a prefix in the settings. No name holds one.
const wildcard = "*"

// parseOrganizations reads a list of names, or of one prefix with a wildcard behind it. A prefix ends in a
// character that divides words, so that acme-* does not take in acmeville.
func parseOrganizations(list []string) (o Organizations, ok bool) {
	if len(list) == 1 && strings.HasSuffix(list[0], wildcard) {
		o.prefix = strings.TrimSuffix(list[0], wildcard)
		return o, value.Name.Accepts(o.prefix) && strings.ContainsAny(o.prefix[len(o.prefix)-1:], "-._")
	}
	o.names = list
	return o, !slices.ContainsFunc(list, func(name string) bool { return !value.Name.Accepts(name) })
}

// include tells whether the issuer may speak for an organization. Names are told apart by case.
func (o Organizations) include(name string) bool {
	return o.prefix != "" && strings.HasPrefix(name, o.prefix) || slices.Contains(o.names, name)
}

// overlap tells whether there can be an organization that both include.
func (o Organizations) overlap(other Organizations) bool {
	if o.prefix != "" && other.prefix != "" {
		return strings.HasPrefix(o.prefix, other.prefix) || strings.HasPrefix(other.prefix, o.prefix)
	}
	return slices.ContainsFunc(o.names, other.include) || slices.ContainsFunc(other.names, o.include)
}
