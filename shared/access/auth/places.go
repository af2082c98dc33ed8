package auth

import (
	"slices"
	"strings"
)

// Places limit where a FleetInstaller may register boxes: in which factories, and on which release channels, as
// edgeType/channel. An empty list means no limit.
type Places struct {
	Factories, Channels []string
}

// Include reports whether a box may be registered in a factory and on a channel.
func (p Places) Include(factoryID, edgeType, channel string) bool {
	return (len(p.Factories) == 0 || slices.Contains(p.Factories, factoryID)) &&
		(len(p.Channels) == 0 || slices.Contains(p.Channels, edgeType+"/"+channel))
}

// Within returns the places that both include; false if there is none.
func (p Places) Within(other Places) (both Places, ok bool) {
	factories, ok1 := within(p.Factories, other.Factories)
	channels, ok2 := within(p.Channels, other.Channels)
	return Places{factories, channels}, ok1 && ok2
}

func within(a, b []string) (both []string, ok bool) {
	if len(a) == 0 {
		return b, true
	}
	if len(b) == 0 {
		return a, true
	}
	for _, one := range a {
		if slices.Contains(b, one) {
			both = append(both, one)
		}
	}
	return both, len(both) > 0
}

// write adds the lists to the authorizer's context. The names have no spaces.
func (p Places) write(values map[string]any) {
	for key, list := range map[string][]string{keyFactories: p.Factories, keyChannels: p.Channels} {
		if len(list) > 0 {
			values[key] = strings.Join(list, " ")
		}
	}
}
