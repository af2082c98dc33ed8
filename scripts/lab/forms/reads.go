package main

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"wavegate/shared/testing/golden"
)

// A read is a call whose answer must stay the same. Some are retries of calls that changed something, and change nothing.
type read struct {
	By   string `json:"by"`
	Call string `json:"call"`
	Body string `json:"body,omitempty"`
	Key  string `json:"key,omitempty"` // the Idempotency-Key
}

// reads lists a call of each reading operation for each resource in the items.
func (w *world) reads(items []golden.Item) (all []read) {
	add := func(by, format string, a ...any) {
		all = append(all, read{By: by, Call: "GET " + fmt.Sprintf(format, a...)})
	}
	for _, i := range items {
		p := i.Plain
		text := func(name string) string { s, _ := p[name].(string); return s }
		switch k, _ := golden.KindOf(i.Table, p); k.String() {
		case "channels: channel":
			at := text("edgeType") + "/" + text("channel")
			add("vera", "/api/ota/release-channels/%s", at)
			add("vera", "/api/ota/release-channels/%s/progress?fresh=true", at)
			add("vera", "/api/edges?edgeType=%s&channel=%s", text("edgeType"), text("channel"))
		case "rollouts: rollout":
			readRollout(add, "/api/ota/rollouts/"+text("id"))
		case "edges: box":
			w.readBox(add, p)
		case "enrolments: enrolment":
			add("anna", "/api/edge-enrolments/%s", text("id"))
		case "factories: factory":
			add("olga", "/api/factories/%s", text("factoryId"))
		case "machines: machine":
			at := "/api/factories/" + text("factoryId") + "/machines/" + text("code")
			add("eric", "%s", at)
			add("eric", "%s/methods", at)
			add("eric", "%s/methods?at=2098-01-01T00:00:00Z", at)
			if id := text("edgeId"); id != "" {
				add("box:"+id, "%s/methods", at)
			}
		case "recipes: method":
			at := "/api/factories/" + text("factoryId") + "/production-methods/" + text("methodId")
			add("eric", "%s", at)
			add("eric", "%s/versions", at)
		case "method-versions: version":
			at := fmt.Sprintf("/api/factories/%s/production-methods/%s/versions/%s", text("factoryId"), text("methodId"), strings.TrimLeft(text("number"), "0"))
			for _, path := range []string{"", "/content", "/machines", "/machines?clear=false", "/changes?since=1"} {
				add("eric", "%s%s", at, path)
			}
		case "rate-overrides: override":
			query := ""
			if text("issuer") != "" {
				query = "?issuer=" + url.QueryEscape(text("issuer"))
			}
			add("olga", "/api/rate-limits/%s/%s%s", text("kind"), text("id"), query)
		}
	}
	all = append(lists(), all...)
	slices.SortStableFunc(all, func(a, b read) int { return cmp.Compare(a.changes(), b.changes()) })
	return append(all, retries...)
}

// changes says how much a read changes. Counts and polls are noted, and come after what would show that. Polls come last,
// because some policies call boxes silent that were not seen for a second.
func (r read) changes() int {
	switch {
	case strings.Contains(r.Call, "fresh=true"):
		return 1
	case strings.Contains(r.Call, "/update/manifest") || strings.Contains(r.Call, "/ddi/") || strings.Contains(r.Call, " action>"):
		return 2
	}
	return 0
}

func readRollout(add func(by, format string, a ...any), at string) {
	for _, path := range []string{"", "/policy", "/progress?fresh=true", "/progress?by=factory&fresh=true", "/progress/history"} {
		add("vera", "%s%s", at, path)
	}
	for _, state := range []string{"offered", "working", "deferred", "installed", "failed", "reverted"} {
		add("vera", "%s/edges?state=%s", at, state)
	}
}

// readBox reads a box, and polls as its client does: what each box is told is what matters most.
func (w *world) readBox(add func(by, format string, a ...any), p golden.Plain) {
	id := fmt.Sprint(p["edgeId"])
	add("vera", "/api/edges/%s", id)
	add("vera", "/api/edges/%s/update/why", id)
	speakers := []string{"box:" + id}
	for _, name := range []string{"token of " + id, "first token of " + id, "second token of " + id, "first token of acme", "second token of acme"} {
		if w.values[name] != "" && (strings.HasSuffix(name, id) || id == "box-34") {
			speakers = append(speakers, "token:"+name)
		}
	}
	client := strings.HasPrefix(id, "ddi-") || len(speakers) > 1
	for _, by := range speakers {
		if client {
			add(by, "/api/ddi/%s/controller/v1/%s", p["organizationId"], id)
		}
		if action := w.values[id+" action"]; action != "" {
			add(by, "<%s action>", id)
		}
	}
	for _, installed := range []string{"", "?installed=1.0.0", "?installed=1.1.0"} {
		add("olga", "/api/edges/%s/update/manifest%s", id, installed)
	}
	if !client {
		add("box:"+id, "/api/edges/%s/update/manifest", id)
	}
}

// lists are the calls that do not name one resource. The first ones show counts of calls.
func lists() (all []read) {
	for _, call := range []string{
		"olga /api/organizations/acme/export?limit=100", "olga /api/organizations/rival/export?limit=50", "eric /api/rate-limits/me",
		"vera /api/ota/overview", "vera /api/ota/overview?edgeType=gateway-x&channel=stable", "vera /api/ota/freeze",
		"vera /api/ota/release-channels", "vera /api/ota/release-channels?edgeType=gateway-x", "vera /api/ota/release-channels?limit=3&offset=2",
		"vera /api/ota/rollouts?limit=100", "vera /api/ota/rollouts?limit=3&offset=2", "vera /api/ota/rollouts?edgeType=gateway-x&channel=stable&status=halted",
		"vera /api/ota/rollouts?edgeType=gateway-x", "vera /api/ota/rollouts?channel=stable", "vera /api/ota/rollouts?channel=stable&status=active",
		"vera /api/ota/rollouts?edgeType=gateway-x&status=completed", "vera /api/ota/rollouts?edgeType=gateway-x&channel=stable",
		"vera /api/ota/rollouts?status=active", "vera /api/ota/rollouts?status=halted", "vera /api/ota/rollouts?status=completed",
		"vera /api/edges?organizationId=acme&limit=100", "vera /api/edges?organizationId=rival", "anna /api/edges?organizationId=acme&limit=2&offset=3",
		"anna /api/edge-enrolments?organizationId=acme", "anna /api/factories", "olga /api/factories?organizationId=acme", "olga /api/factories?organizationId=rival",
		"eric /api/factories/munich-1/machines", "eric /api/factories/munich-1/production-methods", "eric /api/factories/munich-1/production-methods?limit=2&offset=1",
		"eric /api/factories/munich-1/production-methods?status=released", "eric /api/factories/munich-1/production-methods?status=draft",
		"eric /api/factories/munich-1/production-methods?productId=7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11",
		"olga /api/audit-events?limit=5", "olga /api/audit-events?resourceType=edge&limit=5", "olga /api/audit-events?resourceType=edge&resourceId=box-26",
		"olga /api/audit-events?resourceType=freeze&resourceId=freeze", "olga /api/audit-events?resourceType=release-channel&resourceId=gateway-x%2Fstable&limit=3",
		"olga /api/audit-events?resourceType=rollout&resourceId=<first>", "olga /api/audit-events?resourceType=rollout-warning&resourceId=<near>",
		"olga /api/audit-events?resourceType=rollout&resourceId=<bad>", "olga /api/audit-events?resourceType=gateway&resourceId=acme",
		"olga /api/audit-events?resourceType=enrolment&resourceId=<enrolment>", "olga /api/audit-events?resourceType=rate-limit&resourceId=organizations%2Facme",
		"olga /api/audit-events?actorIssuer=https%3A%2F%2Fpeople.wavegate.localhost&actorUserId=otto&limit=3", "olga /api/audit-events?resourceType=factory&resourceId=munich-1",
		"anna /api/factories/munich-1/audit-events?limit=5", "anna /api/factories/munich-1/audit-events?resourceType=production-method&resourceId=<released>",
		"anna /api/factories/munich-1/audit-events?resourceType=production-method-version&resourceId=<released>%3A1",
		"anna /api/factories/munich-1/audit-events?resourceType=machine&resourceId=oven-1",
		"anna /api/factories/munich-1/audit-events?resourceType=method-on-machine&resourceId=press-1%2F<released>",
		"anna /api/factories/munich-1/audit-events?resourceType=recall&resourceId=munich-1%2F<unconfirmed>%2F1",
	} {
		by, path, _ := strings.Cut(call, " ")
		all = append(all, read{By: by, Call: "GET " + path})
	}
	return all
}

// retries are calls that were made before, with their keys.
var retries = []read{
	{By: "olga", Call: "POST /api/ota/rollouts", Key: "first", Body: `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0","reason":"fixes the clock"}`},
	{By: "olga", Call: "POST /api/edges", Key: "boxes", Body: twoBoxes},
	{By: "eric", Call: "POST /api/factories/munich-1/production-methods", Key: "method", Body: methodBody("empty")},
}
