package token

import (
	"slices"
	"strings"

	"wavegate/shared/platform/input"
)

// Organizations are the ones that an issuer of people may name in tokens: exact names, or all
// names with one prefix.
type Organizations struct {
	names  []string
	prefix string
}

// wildcard follows a prefix in the settings. It cannot occur in a name.
const wildcard = "*"

// parseOrganizations reads a list of names, or one prefix and a wildcard. A prefix ends in a
// separator, so that acme-* does not include acmeville.
func parseOrganizations(list []string) (o Organizations, ok bool) {
	if len(list) == 1 && strings.HasSuffix(list[0], wildcard) {
		o.prefix = strings.TrimSuffix(list[0], wildcard)
		return o, input.Name.Accepts(o.prefix) && strings.ContainsAny(o.prefix[len(o.prefix)-1:], "-._")
	}
	o.names = list
	return o, !slices.ContainsFunc(list, func(name string) bool { return !input.Name.Accepts(name) })
}

// include reports whether the issuer may name an organization. Names are case-sensitive.
func (o Organizations) include(name string) bool {
	return o.prefix != "" && strings.HasPrefix(name, o.prefix) || slices.Contains(o.names, name)
}

// overlap reports whether there can be an organization that both include.
func (o Organizations) overlap(other Organizations) bool {
	if o.prefix != "" && other.prefix != "" {
		return strings.HasPrefix(o.prefix, other.prefix) || strings.HasPrefix(other.prefix, o.prefix)
	}
	return slices.ContainsFunc(o.names, other.include) || slices.ContainsFunc(other.names, o.include)
}
