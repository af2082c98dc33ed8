package token

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
)

// subjects reads the programs of an issuer. A program acts for the platform owner, so each is named in full. A pattern
// such as repo:acme* would also admit acme-evil, and one that ends in * would admit a pull request.
func (r *reader) subjects() map[string]auth.Listed {
	for _, other := range []string{"grants", "roleNames", "rolesClaim", "places", "organization", "organizationClaim", "organizations"} {
		if r.has(other) {
			r.fault(other, "the claims of an issuer with subjects grant nothing, so it must be left out")
		}
	}
	m, err := readObject(r.m["subjects"])
	if err != nil || len(m) == 0 {
		r.fault("subjects", "must be an object of at least one sub with its channels")
		return map[string]auth.Listed{}
	}
	all := map[string]auth.Listed{}
	for _, sub := range slices.Sorted(maps.Keys(m)) {
		if !isSubject(sub) || strings.Contains(sub, "*") {
			r.fault("subjects", "%.80q: must be a whole sub, without *", sub)
		}
		all[sub] = r.channels(sub, m[sub])
	}
	return all
}

func (r *reader) channels(sub string, raw []byte) (c auth.Listed) {
	m, err := readObject(raw)
	if err != nil || len(m) == 0 {
		r.fault("subjects", `%.80q: must be an object with "publish", "start" or both`, sub)
		return c
	}
	for name := range m {
		list, err := m.texts(name)
		switch {
		case !slices.Contains([]string{"publish", "start", "override", "hosts"}, name):
			r.fault("subjects", `%.80q: a program may only "publish" and "start", not %.40q`, sub, name)
		case name == "hosts":
			if c.Hosts = list; err != nil || len(list) == 0 || slices.ContainsFunc(list, func(host string) bool { return !programHost.MatchString(host) }) {
				r.fault("subjects", `%.80q: hosts must be a list of hosts such as "artifacts.example" or "artifacts.example:8443"`, sub)
			}
		case err != nil || len(list) == 0 || slices.ContainsFunc(list, func(channel string) bool { return !isChannel(channel) }):
			r.fault("subjects", `%.80q: %s must be a list of channels such as "gateway-x/canary"`, sub, name)
		case name == "publish":
			c.Publish = list
		case name == "override":
			c.Override = list
		default:
			c.Start = list
		}
	}
	if len(c.Publish) == 0 && len(c.Start) == 0 {
		r.fault("subjects", `%.80q: must be an object with "publish", "start" or both`, sub)
	}
	for _, channel := range c.Override {
		if !slices.Contains(c.Publish, channel) {
			r.fault("subjects", "%.80q: override: it may not publish on %s", sub, channel)
		}
	}
	for _, channel := range c.Start {
		if slices.Contains(c.Publish, channel) {
			r.fault("subjects", "%.80q: a program that may publish on %s needs no rollout there; list it once", sub, channel)
		}
	}
	return c
}

// programHost is a host name, with a port if it is not that of https.
var programHost = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?(:[1-9][0-9]{0,4})?$`)

func isChannel(s string) bool {
	edgeType, channel, found := strings.Cut(s, "/")
	return found && input.Name.Accepts(edgeType) && input.Name.Accepts(channel)
}

// program makes the caller of an issuer with subjects. Only iss and sub count.
func (i Issuer) program(c claims) (auth.Principal, error) {
	channels, listed := i.Subjects[c.subject]
	if !listed {
		return auth.Principal{}, refuse(BadSubject, "sub is not listed")
	}
	return auth.Principal{
		Issuer: i.Name, UserID: c.subject, Roles: []auth.Role{auth.Program}, Expires: c.expires, Channels: channels,
	}, nil
}
