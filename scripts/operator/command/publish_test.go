package command_test

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// TestPublish_WhatWouldBeRefused_IsSaidBeforeAnybodyIsAsked: all faults together.
func TestPublish_WhatWouldBeRefused_IsSaidBeforeAnybodyIsAsked(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.asks = true
	d.seen = func(r *http.Request) error {
		expect.Equal(t, r.Method, http.MethodGet, "for %s it sends", r.URL)
		return nil
	}
	publish := func(channel, version, address, hash string) result {
		return d.does("publish", channel, version, "--url", address, "--sha256", hash)
	}
	asked := func(r result, is bool) result {
		t.Helper()
		expect.Equal(t, r.code == run.Misused && strings.Contains(r.err, "Type "), is, "%q asks, with %s:", r.args, r.err)
		return r
	}
	asked(publish("gateway-x/stable", "!", "http://x", "abc"), false).is(run.Misused).
		warns("VERSION must be", "--url must be", "--sha256 must be")
	asked(publish("gateway-x/stable", "1.1.0", "https://artifacts.example/1.1.0", digest("f")), false).is(run.Refused).
		warns("version 1.1.0 is on gateway-x/canary with other bytes", "Publish the new bytes as a new version")
	asked(publish("gateway-x/stabel", "1.2.0", "https://artifacts.example/1.2.0", digest("c")), true).
		warns("gateway-x/stabel: publish 1.2.0 on a new channel; did you mean gateway-x/stable?")
	asked(publish("gateway-x/stable", "1.0.0", "https://artifacts.example/1.0.0", digest("0")), true).
		warns("which is already the channel's version")
	d.seen = nil
	d.does("freeze", "--for", "1h", "--reason", "stocktaking", "--yes").is(run.Done)
	asked(publish("gateway-x/stable", "1.2.0", "https://artifacts.example/1.2.0", digest("c")), false).is(run.Refused).
		warns("frozen until", "stocktaking", "--override")
}

// TestPut_ShowsWhatChanges_AndOverwritesNobody: a factory, a machine or a box that already has the values is not
// written.
func TestPut_ShowsWhatChanges_AndOverwritesNobody(t *testing.T) {
	d := newDesk(t)
	set := func(more ...string) result {
		return d.does(append([]string{"factories", "set", "munich-1"}, more...)...)
	}
	set("--name", "Munich", "--yes").is(run.Misused).warns("--organization is required")
	d.does("factories", "set", "lyon-1", "--name", "", "--approval", "nobody").is(run.Misused).
		warns("--name must have", "--approval must be", "--organization is required")
	set("--name", "Munich", "--organization", "acme").is(run.Misused).
		warns("Add factory munich-1", "name: Munich", "organizationId: acme", "--yes")
	set("--name", "Munich", "--organization", "acme", "--yes").is(run.Done)
	set("--name", "Munich").is(run.Done).says("has not changed")
	set("--approval", "single").is(run.Misused).warns("Change factory munich-1", "methodApproval: single")
	set("--organization", "rival", "--yes").is(run.Refused).warns("never changes its organization")
	d.seen = func(r *http.Request) error {
		if r.Method == http.MethodPut {
			d.seen = nil
			d.Owner(t).Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich, hall 1"}`).Is(t, http.StatusNoContent)
		}
		return nil
	}
	set("--name", "Lyon", "--yes").is(run.Refused).warns("PRECONDITION_FAILED")
	d.does("factories", "show", "munich-1").is(run.Done).says("Munich, hall 1")
	d.does("machines", "set", "munich-1", "press-1", "--name", "Press", "--yes").is(run.SignIn).
		warns("ask a production_engineer or an organization_admin. You are olga")
}
