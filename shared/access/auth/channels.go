package auth

import (
	"slices"
	"strings"
)

// Listed are the release channels, as edgeType/channel, on which a program may publish, and those on which it may start a
// rollout.
type Listed struct {
	Publish, Start []string
}

// MayPublish reports whether a program may publish on a channel.
func (p Principal) MayPublish(edgeType, channel string) bool {
	return slices.Contains(p.Channels.Publish, edgeType+"/"+channel)
}

// MayStart reports whether a program may start a rollout on a channel.
func (p Principal) MayStart(edgeType, channel string) bool {
	return slices.Contains(p.Channels.Start, edgeType+"/"+channel)
}

// write adds the lists to the authorizer's context. A channel has no space in its name.
func (c Listed) write(values map[string]any) {
	for key, list := range map[string][]string{keyPublish: c.Publish, keyStart: c.Start} {
		if len(list) > 0 {
			values[key] = strings.Join(list, " ")
		}
	}
}
