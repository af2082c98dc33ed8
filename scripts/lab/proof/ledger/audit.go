package ledger

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
)

type findings []string

func (f *findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// Audit compares the tables with each other and returns all findings; without faults there are none:
//
//   - Every revision of every resource has exactly one event, and every event has a revision. The
//     events of a resource count from 1 to the stored revision. Each begins with the end of the
//     previous one, and the last ends with what is stored.
//   - A channel's row and its rollouts agree, and at most one rollout of a channel is active.
//   - A publication ends the active rollout of its channel in the same change. A rollout is marked
//     as adopted if the channel adopted its target.
//   - Channels and rollouts name only published versions, with their digests.
//   - Attributes that are derived from others, for lists and filters, have the right values.
//   - The resource in each idempotency record exists.
//   - Every box has a report row that matches its registration.
//   - Versions of methods count from 1, and their contents are stored by their hashes. A version that
//     takes effect was approved by a second person. The chain of each method's changes is complete.
//   - Each machine and class that a method names leads to it.
//   - People were warned at most once of a recall, and its version is stored.
//   - Only the hash of a token is stored.
//   - Every resource in a factory, and each of its events, has an existing factory and the
//     organization of that factory.
func (b Books) Audit() []string {
	var f findings
	trail := b.Trail()
	b.auditChanges(&f, trail)
	b.auditCarried(&f)
	b.auditAdoptions(&f, trail)
	b.auditSuperseded(&f, trail)
	b.auditReleases(&f)
	b.auditDerived(&f)
	b.auditFactories(&f, trail)
	b.auditReports(&f)
	b.auditMethods(&f, trail)
	b.auditPlaces(&f)
	b.auditRecalls(&f, trail)
	b.auditTokens(&f)
	slices.Sort(f)
	return f
}

func (b Books) auditChanges(f *findings, trail map[Resource][]Event) {
	stored := map[Resource]bool{}
	known := map[string]bool{}
	for _, k := range kinds {
		known[k.name] = true
		for _, item := range b[k.table] {
			r := Resource{k.stream(item), k.name, k.id(item)}
			stored[r] = true
			auditChain(f, r, trail[r])
			k.auditEnd(f, r, trail[r], item)
		}
	}
	ids := map[string]bool{}
	for r, events := range trail {
		switch {
		case r.Type == recallType:
		case !known[r.Type]:
			f.add("%s: the audit has no table for resources of this type", r)
		case !stored[r] && !expired(events):
			f.add("%s: %d events of a thing that is not stored", r, len(events))
		}
		for _, e := range events {
			if ids[e.ID] {
				f.add("%s: two events have the id %s", r, e.ID)
			}
			ids[e.ID] = true
		}
	}
}

// expired reports whether the last event is of an enrolment that ended so long ago that the store deletes it.
func expired(events []Event) bool {
	last := events[len(events)-1]
	ends := moment(last.After, "expiresAt")
	return last.Type == "enrolment" && !ends.IsZero() && time.Since(ends) > 90*24*time.Hour
}

// auditChain compares the events of one resource with each other.
func auditChain(f *findings, r Resource, events []Event) {
	var last Event
	for i, e := range events {
		if e.Revision != int64(i)+1 {
			f.add("%s: event %s has revision %d, want %d", r, e.Name, e.Revision, i+1)
			return
		}
		if !reflect.DeepEqual(e.Before, last.After) {
			f.add("%s: %s, revision %d, begins with %v; the previous one ended with %v", r, e.Name, e.Revision, e.Before, last.After)
		}
		if !e.Time.After(last.Time) {
			f.add("%s: revision %d is at %s, not after %s", r, e.Revision, e.Time, last.Time)
		}
		if n := number(e.After, "revision"); e.After != nil && n != e.Revision {
			f.add("%s: %s of revision %d ends with revision %d", r, e.Name, e.Revision, n)
		}
		last = e
	}
}

func (k kind) auditEnd(f *findings, r Resource, events []Event, item Item) {
	if int64(len(events)) != number(item, "revision") {
		f.add("%s: %d events, but revision %d is stored", r, len(events), number(item, "revision"))
		return
	}
	if len(events) == 0 {
		f.add("%s: stored without an event", r)
		return
	}
	last := events[len(events)-1]
	if last.After == nil {
		if item["removed"] != true && item["lifted"] != true && !retired(item) && !(r.Type == "gateway" && len(hashes(item)) == 0) {
			f.add("%s: the last event is a removal, but it is stored", r)
		}
		return
	}
	shown := maps.Clone(item)
	for _, name := range k.hidden {
		delete(shown, name)
	}
	if !reflect.DeepEqual(shown, last.After) {
		f.add("%s: %v is stored; the last event ended with %v", r, shown, last.After)
	}
}

func (b Books) auditCarried(f *findings) {
	rows, active := map[string]Item{}, map[string]string{}
	for _, row := range b[dynamo.Channels] {
		rows[text(row, "edgeType")+"/"+text(row, "channel")] = row
	}
	rollouts := map[string]Item{}
	for _, r := range b[dynamo.Rollouts] {
		id, pair := text(r, "id"), text(r, "edgeType")+"/"+text(r, "channel")
		rollouts[id] = r
		if text(r, "status") != "active" {
			continue
		}
		if other := active[pair]; other != "" {
			f.add("channel %s: two rollouts are active, %s and %s", pair, other, id)
		}
		active[pair] = id
		if text(object(rows[pair], "rollout"), "id") != id {
			f.add("channel %s: the row does not carry its active rollout %s", pair, id)
		}
	}
	for pair, row := range rows {
		carried := object(row, "rollout")
		if carried == nil {
			continue
		}
		r := rollouts[text(carried, "id")]
		if r == nil {
			f.add("channel %s: the row carries %s, which is not stored", pair, text(carried, "id"))
			continue
		}
		want := Item{
			"id": r["id"], "targetVersion": r["targetVersion"], "artifactUrl": r["artifactUrl"], "sha256": r["sha256"],
			"staged_percent": r["staged_percent"], "active": text(r, "status") == "active", "revision": r["revision"],
			"guard": modeOf(r), "changedAt": r["updatedAt"],
		}
		if !reflect.DeepEqual(carried, want) {
			f.add("channel %s: the row carries %v; the rollout is %v", pair, carried, want)
		}
	}
}

// auditAdoptions: a channel adopts a rollout's target in the change that completes the rollout
// at 100 percent, and in no other change.
func (b Books) auditAdoptions(f *findings, trail map[Resource][]Event) {
	adopted, completed := map[string]Event{}, map[string]Event{}
	for _, events := range trail {
		for _, e := range events {
			switch {
			case e.Name == "ReleaseAdopted":
				adopted[e.RequestID] = e
			case e.Type == "rollout" && text(e.Before, "status") == "active" && text(e.After, "status") == "completed" &&
				number(e.After, "staged_percent") == 100:
				completed[e.RequestID] = e
			}
		}
	}
	for request, e := range completed {
		a, ok := adopted[request]
		if !ok || text(a.After, "currentVersion") != text(e.After, "targetVersion") || text(a.After, "sha256") != text(e.After, "sha256") {
			f.add("%s: completed at 100 percent, but the channel did not adopt %s", e.Resource, text(e.After, "targetVersion"))
		}
	}
	for request, a := range adopted {
		if _, ok := completed[request]; !ok {
			f.add("%s: adopted %s without a completed rollout", a.Resource, text(a.After, "currentVersion"))
		}
	}
}

// auditSuperseded: a rollout that says that a publication ended it must have been ended in the
// change of a publication on its channel. No publication may leave a rollout of its channel
// active. A rollout is marked as adopted if the channel adopted its target.
func (b Books) auditSuperseded(f *findings, trail map[Resource][]Event) {
	published, adopted := map[string]Event{}, map[string]bool{}
	for _, events := range trail {
		for _, e := range events {
			switch e.Name {
			case "ReleasePublished":
				published[e.RequestID] = e
			case "RolloutCompleted":
				adopted[e.ID] = text(e.Before, "status") == "active" && number(e.After, "staged_percent") == 100
			}
		}
	}
	for r, events := range trail {
		if r.Type != "rollout" {
			continue
		}
		took := false
		for _, e := range events {
			took = took || adopted[e.ID]
			if e.After["adopted"] != took {
				f.add("%s: %s has adopted: %v, want %v", r, e.Name, e.After["adopted"], took)
			}
			p, beside := published[e.RequestID]
			ends := text(e.Before, "endedBy") == "" && text(e.After, "endedBy") == "publication"
			if beside != ends || ends && p.Resource.ID != text(e.After, "edgeType")+"/"+text(e.After, "channel") {
				f.add("%s: %s by the request %s, which published on %q, ended by %q", r, e.Name, e.RequestID, p.Resource.ID, text(e.After, "endedBy"))
			}
		}
	}
}

func (b Books) auditReleases(f *findings) {
	digests := map[string]string{}
	for _, r := range b[dynamo.Releases] {
		digests[text(r, "edgeType")+" "+text(r, "version")] = text(r, "sha256")
	}
	names := func(what string, item Item, version string) {
		if d := digests[text(item, "edgeType")+" "+text(item, version)]; d == "" || d != text(item, "sha256") {
			f.add("%s names %s with the digest %q; the published one is %q", what, text(item, version), text(item, "sha256"), d)
		}
	}
	for _, c := range b[dynamo.Channels] {
		names("channel "+text(c, "edgeType")+"/"+text(c, "channel"), c, "currentVersion")
	}
	for _, r := range b[dynamo.Rollouts] {
		names("rollout "+text(r, "id"), r, "targetVersion")
	}
}

// auditDerived recomputes the attributes for lists and filters.
func (b Books) auditDerived(f *findings) {
	derive := func(table dynamo.TableID, want func(Item) Item) {
		for _, item := range b[table] {
			for name, value := range want(item) {
				if item[name] != value {
					f.add("%s: the attribute %s is %v, want %v, in %v", table, name, item[name], value, item)
				}
			}
		}
	}
	pair := func(i Item) string { return text(i, "edgeType") + "/" + text(i, "channel") }
	derive(dynamo.Channels, func(i Item) Item {
		return Item{"list": "channel", "listKey": text(i, "edgeType") + " " + text(i, "channel")}
	})
	derive(dynamo.Edges, func(i Item) Item {
		if retired(i) {
			return Item{"pair": "-"}
		}
		return Item{"pair": pair(i)}
	})
	derive(dynamo.Rollouts, func(i Item) Item {
		status := "#" + text(i, "status")
		return Item{"list": "rollout", "pair": pair(i), "pairStatus": pair(i) + status,
			"edgeTypeStatus": text(i, "edgeType") + status, "channelStatus": text(i, "channel") + status}
	})
	derive(dynamo.Methods, func(i Item) Item {
		keys := Item{"productMethod": text(i, "productId") + "#" + text(i, "methodId"), "factoryStatus": nil}
		if latest := object(i, "latest"); latest != nil {
			keys["factoryStatus"] = text(i, "factoryId") + "#" + text(latest, "status")
		}
		return keys
	})
	derive(dynamo.MethodVersions, func(i Item) Item { return Item{"number": fmt.Sprintf("%010d", number(i, "version"))} })
	derive(dynamo.Audit, func(i Item) Item {
		what, actor := object(i, "resource"), object(i, "actor")
		resource := text(what, "type") + "\n" + text(what, "id")
		who := text(actor, "issuer") + "\n" + text(actor, "userId")
		stream := text(i, "stream")
		var shared any // events of an organization in a stream of several
		if organization := text(i, "organizationId"); organization != "" && !strings.HasPrefix(stream, "factory/") {
			shared = stream + "\n" + organization
		}
		return Item{"streamOrganization": shared, "position": moment(i, "eventTime").Format("2006-01-02T15:04:05.000Z") + "#" + text(i, "eventId"), "streamResource": stream + "\n" + resource,
			"streamActor": stream + "\n" + who, "streamResourceActor": stream + "\n" + resource + "\n" + who}
	})
}

func (b Books) auditFactories(f *findings, trail map[Resource][]Event) {
	owners := map[string]string{}
	for _, i := range b[dynamo.Factories] {
		owners[text(i, "factoryId")] = text(i, "organizationId")
	}
	made := map[string]bool{}
	for _, table := range []dynamo.TableID{dynamo.Rollouts, dynamo.Enrolments} {
		for _, i := range b[table] {
			made[text(i, "id")] = true
		}
	}
	for _, table := range []dynamo.TableID{dynamo.Methods, dynamo.MethodVersions, dynamo.Machines} {
		for _, i := range b[table] {
			made[text(i, "methodId")] = true
			if owners[text(i, "factoryId")] == "" {
				f.add("%s: %v is in a factory that is not stored", table, i)
			}
		}
	}
	for _, i := range b[dynamo.Idempotency] {
		if !made[text(i, "result")] && !isTally(text(i, "result")) {
			f.add("an idempotency record names %q, which is not stored", text(i, "result"))
		}
	}
	for r, events := range trail {
		factory, inside := strings.CutPrefix(r.Stream, "factory/")
		for _, e := range events {
			if inside && e.Organization != owners[factory] {
				f.add("%s: an event has the organization %q; the factory has %q", r, e.Organization, owners[factory])
			}
		}
	}
}
