package program_test

import (
	"errors"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/program"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

var (
	ci       = auth.Principal{UserID: "ci", Roles: []auth.Role{auth.Program}, Channels: auth.Listed{Publish: []string{"g/canary"}, Start: []string{"g/stable"}}}
	owner    = auth.Principal{UserID: "olga", Roles: []auth.Role{auth.PlatformOwner}}
	engineer = auth.Principal{UserID: "eric", Roles: []auth.Role{auth.ProductionEngineer}, OrganizationID: "acme"}
	override = audit.Grounds{OverrideReason: "urgent"}
)

func TestMayPublish(t *testing.T) {
	trusted, bound := ci, ci
	trusted.Channels.Override = []string{"g/canary"}
	bound.Channels.Hosts = []string{"cdn.example", "other.example"}
	for name, c := range map[string]struct {
		caller  auth.Principal
		channel string
		grounds audit.Grounds
		may     bool
	}{
		"with the right to override":   {trusted, "canary", override, true},
		"from a listed host":           {bound, "canary", audit.Grounds{}, true},
		"a listed channel":             {ci, "canary", audit.Grounds{Reason: "build 17"}, true},
		"a channel to start on":        {ci, "stable", audit.Grounds{}, false},
		"a channel that is not listed": {ci, "beta", audit.Grounds{}, false},
		"over a freeze":                {ci, "canary", override, false},
		"an owner, anywhere":           {owner, "beta", override, true},
		"a person of another role":     {engineer, "canary", audit.Grounds{}, false},
	} {
		p := release.Publication{EdgeType: "g", Channel: c.channel, ArtifactURL: "https://CDN.example/1",
			Delivery: release.Delivery{ArtifactHTTPURL: "http://other.example/1"}, Documents: release.Documents{{Kind: "notes", URL: "https://other.example/n"}, {Kind: "sbom", SHA256: "ab"}}}
		expect(t, name, program.MayPublish(c.caller, p, c.grounds), c.may)
	}
	for _, p := range []release.Publication{
		{ArtifactURL: "https://cdn.example/1", Documents: release.Documents{{Kind: "notes", URL: "https://other.example/n"}, {Kind: "sbom", URL: "https://evil.example/b"}}},
		{ArtifactURL: "https://evil.example/1"}, {ArtifactURL: "https://cdn.example/1", Delivery: release.Delivery{ArtifactHTTPURL: "http://evil.example/1"}},
	} {
		p.EdgeType, p.Channel = "g", "canary"
		expect(t, "another host", program.MayPublish(bound, p, audit.Grounds{}), false)
	}
}

// TestMayPublish_WhatTheServiceKeeps_WhateverTheHosts: a program can also be bound to that alone.
func TestMayPublish_WhatTheServiceKeeps_WhateverTheHosts(t *testing.T) {
	bound, only := ci, ci
	bound.Channels.Hosts, only.Channels.Hosts = []string{"cdn.example"}, []string{auth.KeptOnly}
	kept := release.Publication{EdgeType: "g", Channel: "canary", KeptAt: "https://kept.example"}
	at := func(host string) release.Publication {
		return release.Publication{EdgeType: "g", Channel: "canary", ArtifactURL: "https://" + host + "/1"}
	}
	for name, c := range map[string]struct {
		caller auth.Principal
		p      release.Publication
		may    bool
	}{
		"kept, any host": {ci, kept, true}, "kept, other hosts": {bound, kept, true}, "kept, only that": {only, kept, true},
		"elsewhere": {only, at("cdn.example"), false}, "a host of that name": {only, at("kept"), false},
	} {
		expect(t, name, program.MayPublish(c.caller, c.p, audit.Grounds{}), c.may)
	}
}

func TestMayStart(t *testing.T) {
	for name, c := range map[string]struct {
		caller    auth.Principal
		channel   string
		ownPolicy bool
		grounds   audit.Grounds
		may       bool
	}{
		"a listed channel":                {ci, "stable", false, audit.Grounds{Reason: "build 17"}, true},
		"a channel to publish on":         {ci, "canary", false, audit.Grounds{}, false},
		"a channel that is not listed":    {ci, "beta", false, audit.Grounds{}, false},
		"with a policy of its own":        {ci, "stable", true, audit.Grounds{}, false},
		"over a freeze":                   {ci, "stable", false, override, false},
		"an owner, anywhere, without one": {owner, "beta", true, override, true},
		"a person of another role":        {engineer, "stable", false, audit.Grounds{}, false},
	} {
		expect(t, name, program.MayStart(c.caller, "g", c.channel, c.ownPolicy, false, c.grounds), c.may)
	}
}

func expect(t *testing.T, name string, err error, may bool) {
	t.Helper()
	refusal, refused := errors.AsType[*problem.Error](err)
	if refused == may || refused && refusal.Code != problem.Forbidden {
		t.Errorf("%s: %v", name, err)
	}
}
