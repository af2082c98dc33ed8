package token

import (
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
)

// The claims that limit an installer further than the settings do: lists of strings, or one string.
const (
	factoriesClaim = "wavegate_factories"
	channelsClaim  = "wavegate_channels"
)

// mostPlaces bounds each list, so that the authorizer's answer stays small.
const mostPlaces = 50

// places reads where the issuer's installers may register boxes.
func (r *reader) places() (p auth.Places) {
	if !r.has("places") {
		return p
	}
	m, err := readObject(r.m["places"])
	if err != nil || len(m) == 0 {
		r.fault("places", `must be an object with "factories", "channels" or both`)
		return p
	}
	for name := range m {
		list, err := m.texts(name)
		accepts := map[string]func(string) bool{"factories": input.Slug.Accepts, "channels": isChannel}[name]
		switch {
		case accepts == nil:
			r.fault("places", "must have only factories and channels, not %.40q", name)
		case err != nil || len(list) == 0 || len(list) > mostPlaces || !all(list, accepts):
			r.fault("places", "%s must be a list of 1 to %d, such as [\"munich-1\"] or [\"gateway-x/stable\"]", name, mostPlaces)
		case name == "factories":
			p.Factories = list
		default:
			p.Channels = list
		}
	}
	return p
}

// places returns where an installer may register boxes: where the settings and the token's claims both allow it.
func (i Issuer) places(c claims) (auth.Places, error) {
	var own auth.Places
	for name, list := range map[string]*[]string{factoriesClaim: &own.Factories, channelsClaim: &own.Channels} {
		if c.all.isAbsent(name) {
			continue
		}
		names, err := c.all.names(name)
		accepts := isChannel
		if name == factoriesClaim {
			accepts = input.Slug.Accepts
		}
		if err != nil || len(names) == 0 || len(names) > mostPlaces || !all(names, accepts) {
			return own, refuse(BadClaims, "%s is not a list of 1 to %d places", name, mostPlaces)
		}
		*list = names
	}
	both, ok := i.Places.Within(own)
	if !ok {
		return both, refuse(BadClaims, "the token allows no place that the settings allow")
	}
	return both, nil
}

func all(list []string, accepts func(string) bool) bool {
	return !slices.ContainsFunc(list, func(one string) bool { return !accepts(one) })
}
