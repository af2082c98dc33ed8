package auth

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Listed are the release channels, as edgeType/channel, on which a program may publish, those on which it may start a
// rollout, and those on which it may end a rollout of somebody else by a publication. Hosts are the hosts of its
// artifacts; none: any.
type Listed struct {
	Publish, Start, Override, Hosts []string
}

// KeptOnly stands among the hosts of a program for the artifacts that the service keeps. A program may always name these;
// with no other host, it names nothing else.
const KeptOnly = "kept"

// MayPublish reports whether a program may publish on a channel.
func (p Principal) MayPublish(edgeType, channel string) bool {
	return slices.Contains(p.Channels.Publish, edgeType+"/"+channel)
}

// MayPublishSome reports whether a program may publish on a channel of an edge type.
func (p Principal) MayPublishSome(edgeType string) bool {
	return slices.ContainsFunc(p.Channels.Publish, func(channel string) bool { return strings.HasPrefix(channel, edgeType+"/") })
}

// MayStart reports whether a program may start a rollout on a channel.
func (p Principal) MayStart(edgeType, channel string) bool {
	return slices.Contains(p.Channels.Start, edgeType+"/"+channel)
}

// MayOverride reports whether a program may end a rollout of somebody else on a channel.
func (p Principal) MayOverride(edgeType, channel string) bool {
	return slices.Contains(p.Channels.Override, edgeType+"/"+channel)
}

// MayFetchFrom reports whether a program may name an artifact's URL. Host names have no case, and the port of the URL's
// scheme need not be given.
func (p Principal) MayFetchFrom(address string) bool {
	if len(p.Channels.Hosts) == 0 {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	return slices.ContainsFunc(p.Channels.Hosts, func(host string) bool {
		if host == KeptOnly {
			return false
		}
		name, listed, given := strings.Cut(host, ":")
		if !given {
			listed = map[string]string{"https": "443", "http": "80"}[u.Scheme]
		}
		return strings.EqualFold(name, u.Hostname()) && listed == port
	})
}

// read reads the lists that write wrote.
func (c *Listed) read(text func(key string) string) {
	c.Publish, c.Start = strings.Fields(text(keyPublish)), strings.Fields(text(keyStart))
	c.Override, c.Hosts = strings.Fields(text(keyOverride)), strings.Fields(text(keyHosts))
}

// write adds the lists to the authorizer's context. Neither a channel nor a host has a space in its name.
func (c Listed) write(values map[string]any) {
	for key, list := range map[string][]string{keyPublish: c.Publish, keyStart: c.Start, keyOverride: c.Override, keyHosts: c.Hosts} {
		if len(list) > 0 {
			values[key] = strings.Join(list, " ")
		}
	}
}
