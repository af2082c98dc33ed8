package answers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/lab/proof/answers"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestExplain_PlantedFaults_AreFound changes one answer of an honest run in each case.
func TestExplain_PlantedFaults_AreFound(t *testing.T) {
	for name, plant := range map[string]func(*testing.T, *run){
		"an acknowledged change that is lost": func(t *testing.T, r *run) {
			r.call(t, "put-machine").RequestID = "another"
			r.remove(t, dynamo.Audit, "eventName", "MachineRegistered")
		},
		"a change that nobody asked for": func(t *testing.T, r *run) { r.event(t, "MachineRegistered")["requestId"] = "nobody's" },
		"a change of a machine by the guard": func(t *testing.T, r *run) {
			e := r.event(t, "MachineRegistered")
			e["requestId"], e["actor"] = "a tick's", ledger.Item{"issuer": "urn:wavegate:guard", "userId": "guard"}
		},
		"a refusal that made a change": func(t *testing.T, r *run) { r.call(t, "put-factory").Status = 409 },
		"a change in another's name":   func(t *testing.T, r *run) { r.event(t, "FactoryRegistered")["actor"].(ledger.Item)["userId"] = "eve" },
		"a change to other values":     func(t *testing.T, r *run) { r.call(t, "put-machine").Body = []byte(`{"name":"Lathe"}`) },
		"a change to another thing":    func(t *testing.T, r *run) { r.call(t, "put-machine").Parameter["code"] = "m-2" },
		"nothing changed and nothing found unchanged": func(t *testing.T, r *run) {
			c := *r.call(t, "put-machine")
			c.RequestID, c.Status, c.Body = "again", 204, []byte(`{"name":"Saw"}`)
			r.calls = append(r.calls, c)
		},
		"a second creation of one thing": func(t *testing.T, r *run) {
			c := *r.call(t, "put-machine")
			c.RequestID = "again"
			r.calls = append(r.calls, c)
		},
		"a replacement that was reported as new": func(t *testing.T, r *run) { r.call(t, "update-rollout").Status = 201 },
		"a location without a thing":             func(t *testing.T, r *run) { r.call(t, "create-production-method").Location += "0" },
		"two locations for one key": func(t *testing.T, r *run) {
			c := *r.call(t, "create-production-method")
			c.RequestID, c.Location = "again", "/other"
			r.calls = append(r.calls, c)
		},
		"two things for one key": twoThingsForOneKey,
		"a token's hash that nobody set": func(t *testing.T, r *run) {
			r.books[dynamo.Reports][0]["tokens"].(ledger.Item)["current"] = strings.Repeat("b", 64)
		},
		"a token that is lost": func(t *testing.T, r *run) { delete(r.books[dynamo.Reports][0], "tokens") },
		"a torn read": func(t *testing.T, r *run) {
			c := r.call(t, "get-rollout")
			c.Answer = []byte(strings.Replace(string(c.Answer), `"completed"`, `"halted"`, 1))
		},
		"a stale read": stale,
		"a channel that shows another stage": func(t *testing.T, r *run) {
			c := *r.call(t, "get-rollout")
			after := r.event(t, "ReleaseAdopted")["after"].(ledger.Item)
			after["activeRollout"] = ledger.Item{"id": c.Parameter["id"], "targetVersion": "1.1.0", "staged_percent": 50.0, "revision": 2.0}
			body := expect.Value(json.Marshal(after))(t)
			delete(after, "activeRollout")
			c.Operation, c.Answer, c.Parameter = "get-release-channel", body, map[string]string{"edgeType": "gateway-x", "channel": "stable"}
			r.calls = append(r.calls, c)
		},
		"a poll that names other bytes": func(t *testing.T, r *run) {
			c := r.call(t, "get-manifest")
			c.Answer = []byte(strings.Replace(string(c.Answer), "aaaa", "bbbb", 1))
		},
		"a poll that keeps other bytes": func(t *testing.T, r *run) {
			c := r.call(t, "get-manifest")
			c.Answer = []byte(strings.NewReplacer("aaaa", "bbbb", `"source":"rollout"`, `"source":"hold"`).Replace(string(c.Answer)))
		},
		"a poll of another channel's version": func(t *testing.T, r *run) {
			c := r.call(t, "get-manifest")
			c.Answer = []byte(strings.Replace(string(c.Answer), `"stable"`, `"nightly"`, 1))
		},
		"a content that was never saved": func(t *testing.T, r *run) { r.call(t, "get-method-content").Answer = []byte(`{}`) },
		"a save of another content":      func(t *testing.T, r *run) { r.call(t, "put-method-content").Body = []byte(`{}`) },
		"a move to another status": func(t *testing.T, r *run) {
			r.call(t, "update-method-version").Body = []byte(`{"status":"withdrawn","reason":"r"}`)
		},
		"a poll with a version that nobody approved": func(t *testing.T, r *run) {
			c := r.call(t, "get-machine-methods")
			c.Answer = []byte(strings.Replace(string(c.Answer), `"version":1`, `"version":2`, 1))
		},
		"a poll with a hash that is not in the chain": func(t *testing.T, r *run) {
			c := r.call(t, "get-machine-methods")
			c.Answer = []byte(strings.Replace(string(c.Answer), `"trailSha256":"`, `"trailSha256":"0`, 1))
		},
		"a poll of another organization's machine":        func(t *testing.T, r *run) { r.call(t, "get-machine-methods").Organization = "rival" },
		"a read of nothing although the resource existed": func(t *testing.T, r *run) { r.call(t, "get-machine").Status = 404 },
		"a read of a resource of another organization":    func(t *testing.T, r *run) { c := r.call(t, "get-machine"); c.ReadsAll, c.Organization = false, "rival" },
	} {
		r := honest(t)
		plant(t, r)
		expect.That(t, len(answers.Explain(r.books, r.calls)) != 0, "%s: not found", name)
	}
}

// TestExplain_WhatAnotherChannelSaidOfTheRelease_IsFound: a publication with a version's known size changes nothing,
// even if another channel's publication gave the size. A size that nobody gave is found.
func TestExplain_WhatAnotherChannelSaidOfTheRelease_IsFound(t *testing.T) {
	for size, faults := range map[float64]int{7: 0, 8: 1} {
		r := honest(t)
		adopted := r.event(t, "ReleaseAdopted")["after"].(ledger.Item) // of 1.1.0, on stable
		c := *r.call(t, "update-rollout")
		c.Operation, c.RequestID, c.Status, c.Began, c.Ended = "publish-release", "again", 204, time.Now(), time.Now().Add(time.Millisecond)
		c.Path, c.Parameter = "/api/ota/release-channels/gateway-x/canary", map[string]string{"edgeType": "gateway-x", "channel": "canary"}
		c.Body = fmt.Appendf(nil, `{"currentVersion":"1.1.0","artifactUrl":%q,"sha256":%q,"sizeBytes":7}`, adopted["artifactUrl"], adopted["sha256"])
		r.calls = append(r.calls, c)
		adopted["sizeBytes"] = size
		found := 0
		for _, line := range answers.Explain(r.books, r.calls) {
			if strings.Contains(line, "found what it asked for") {
				found++
			}
		}
		expect.That(t, found == faults, "with the size %v: %d faults, want %d", size, found, faults)
	}
}

// TestExplain_AHaltEverywhereOfWhatWasHalted_MakesOnlyOthers: the rollout of the call need not change, but it must be
// halted.
func TestExplain_AHaltEverywhereOfWhatWasHalted_MakesOnlyOthers(t *testing.T) {
	for event, faults := range map[string]int{"RolloutHalted": 0, "RolloutCompleted": 1} {
		r := honest(t)
		c := *r.call(t, "update-rollout")
		c.RequestID, c.Body, c.Began, c.Ended = "again", []byte(`{"status":"halted","everywhere":true}`), time.Now(), time.Now().Add(time.Millisecond)
		c.Parameter = map[string]string{"id": r.event(t, event)["resource"].(ledger.Item)["id"].(string)}
		r.calls = append(r.calls, c)
		other := maps.Clone(r.event(t, "RolloutHalted"))
		other["requestId"], other["actor"] = c.RequestID, ledger.Item{"issuer": c.Issuer, "userId": c.User}
		other["resource"] = ledger.Item{"type": "rollout", "id": "another", "revision": 2.0}
		r.books[dynamo.Audit] = append(r.books[dynamo.Audit], other)
		found := answers.Explain(r.books, r.calls)
		expect.That(t, len(found) == faults, "of one with %s: %q, want %d", event, found, faults)
	}
}

// TestExplain_AReport_IsOnWhatAPollOffered, unless nobody can read it: then it is about nothing.
func TestExplain_AReport_IsOnWhatAPollOffered(t *testing.T) {
	for body, faults := range map[string]int{`{"version":"1.1.0"}`: 0, `{"version":"9.9.9"}`: 1, `{"version":"9.9.9"}x`: 0, `null`: 0} {
		r := honest(t)
		box, now := map[string]string{"edgeId": "box-1"}, time.Now()
		poll := r.call(t, "get-manifest")
		poll.Parameter, poll.Began = box, now
		r.calls = append(r.calls, answers.Call{Operation: "put-update-report", User: "box-1", Status: 200, RequestID: "report",
			Parameter: box, Body: []byte(body), Began: now, Ended: now.Add(time.Millisecond)})
		found := answers.Explain(r.books, r.calls)
		expect.That(t, len(found) == faults, "%s: %q", body, found)
	}
}

// TestExplain_AConfirmation_IsThatOfThePersonAndTheVersion: anna said of m-1 that it no longer has version 1, as it is gone.
func TestExplain_AConfirmation_IsThatOfThePersonAndTheVersion(t *testing.T) {
	for _, c := range []struct {
		user, number, reason string
		faults               int
	}{{"anna", "1", "gone", 0}, {"anna", "2", "gone", 1}, {"anna", "1", "scrapped", 1}, {"olga", "1", "gone", 1}} {
		r := honest(t)
		call := *r.call(t, "put-machine")
		call.Operation, call.RequestID, call.User, call.Body = "put-method-confirmation", "again", c.user, fmt.Appendf(nil, `{"reason":%q}`, c.reason)
		call.Parameter = map[string]string{"factoryId": "munich-1", "code": "m-1", "methodId": "milling", "number": c.number}
		r.calls = append(r.calls, call)
		event := maps.Clone(r.event(t, "MachineRegistered"))
		event["requestId"], event["actor"] = "again", ledger.Item{"issuer": call.Issuer, "userId": c.user}
		event["resource"] = ledger.Item{"type": "method-on-machine", "id": "m-1/milling", "revision": 1.0}
		event["after"] = ledger.Item{"confirmed": []any{ledger.Item{"version": 1.0, "reason": "gone", "userId": "anna"}}}
		r.books[dynamo.Audit] = append(r.books[dynamo.Audit], event)
		found := answers.Explain(r.books, r.calls)
		expect.That(t, len(found) == c.faults, "%+v: %q", c, found)
	}
}

// twoThingsForOneKey makes a repeated call create a second method, like a retry without
// idempotency.
func twoThingsForOneKey(t *testing.T, r *run) {
	again := *r.call(t, "create-production-method")
	again.RequestID, again.Status, again.Location = "again", 503, ""
	r.calls = append(r.calls, again)
	second := ledger.Item{}
	for name, value := range r.event(t, "ProductionMethodCreated") {
		second[name] = value
	}
	second["requestId"] = "again"
	second["resource"] = ledger.Item{"type": "production-method", "id": "second", "revision": 1.0}
	r.books[dynamo.Audit] = append(r.books[dynamo.Audit], second)
}

// stale makes a read show the rollout as it was before an acknowledged completion.
func stale(t *testing.T, r *run) {
	body := expect.Value(json.Marshal(r.event(t, "RolloutCompleted")["before"]))(t)
	r.call(t, "get-rollout").Answer = body
}
