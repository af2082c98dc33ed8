package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// Findings are sentences about what does not agree.
type Findings []string

// Add adds a finding.
func (f *Findings) Add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

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
//   - People were warned at most once of a recall each time that machines were left, and its version is stored.
//   - Only the hash of a token is stored.
//   - Every resource in a factory, and each of its events, has an existing factory and the
//     organization of that factory.
func (b Books) Audit() []string {
	var f Findings
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

func (b Books) auditChanges(f *Findings, trail map[Resource][]Event) {
	stored := b.Things()
	known := map[string]bool{}
	for _, k := range kinds {
		known[k.name] = true
		for _, item := range b[k.table] {
			r := Resource{k.stream(item), k.name, k.id(item)}
			auditChain(f, r, trail[r])
			k.auditEnd(f, r, trail[r], item)
		}
	}
	ids := map[string]bool{}
	for r, events := range trail {
		switch {
		case r.Type == method.RecallResourceType:
		case !known[r.Type]:
			f.Add("%s: the audit has no table for resources of this type", r)
		case stored[r] == nil && !expired(events):
			f.Add("%s: %d events of a thing that is not stored", r, len(events))
		}
		for _, e := range events {
			if ids[e.ID] {
				f.Add("%s: two events have the id %s", r, e.ID)
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
func auditChain(f *Findings, r Resource, events []Event) {
	var last Event
	for i, e := range events {
		if e.Revision != int64(i)+1 {
			f.Add("%s: event %s has revision %d, want %d", r, e.Name, e.Revision, i+1)
			return
		}
		if !Same(r.Type, e.Before, last.After) {
			f.Add("%s: %s, revision %d, begins with %v; the previous one ended with %v", r, e.Name, e.Revision, e.Before, last.After)
		}
		if !e.Time.After(last.Time) {
			f.Add("%s: revision %d is at %s, not after %s", r, e.Revision, e.Time, last.Time)
		}
		if n := Number(e.After, "revision"); e.After != nil && n != e.Revision {
			f.Add("%s: %s of revision %d ends with revision %d", r, e.Name, e.Revision, n)
		}
		last = e
	}
}

func (k kind) auditEnd(f *Findings, r Resource, events []Event, item Item) {
	if int64(len(events)) != Number(item, "revision") {
		f.Add("%s: %d events, but revision %d is stored", r, len(events), Number(item, "revision"))
		return
	}
	if len(events) == 0 {
		f.Add("%s: stored without an event", r)
		return
	}
	last := events[len(events)-1]
	if last.After == nil {
		if item["removed"] != true && item["lifted"] != true && !retired(item) && !(r.Type == "gateway" && len(hashes(item)) == 0) {
			f.Add("%s: the last event is a removal, but it is stored", r)
		}
		return
	}
	shown := maps.Clone(item)
	for _, name := range k.hidden {
		delete(shown, name)
	}
	if !Same(r.Type, shown, last.After) {
		f.Add("%s: %v is stored; the last event ended with %v", r, shown, last.After)
	}
}

func (b Books) auditCarried(f *Findings) {
	rows, active := map[string]Item{}, map[string]string{}
	for _, row := range b[dynamo.Channels] {
		rows[pairOf(row)] = row
	}
	rollouts := map[string]Item{}
	for _, r := range b[dynamo.Rollouts] {
		id, pair := Text(r, "id"), pairOf(r)
		rollouts[id] = r
		if Text(r, "status") != "active" {
			continue
		}
		if other := active[pair]; other != "" {
			f.Add("channel %s: two rollouts are active, %s and %s", pair, other, id)
		}
		active[pair] = id
		if Text(Object(rows[pair], "rollout"), "id") != id {
			f.Add("channel %s: the row does not carry its active rollout %s", pair, id)
		}
	}
	for pair, row := range rows {
		carried := Object(row, "rollout")
		if carried == nil {
			continue
		}
		r := rollouts[Text(carried, "id")]
		if r == nil {
			f.Add("channel %s: the row carries %s, which is not stored", pair, Text(carried, "id"))
		} else if want := as[rollout.Rollout](r).Carried(); !dynamo.Same(as[release.Carried](carried), want) {
			f.Add("channel %s: the row carries %v; the rollout is %v", pair, carried, want)
		}
	}
}

// auditAdoptions: a channel adopts a rollout's target in the change that completes the rollout
// at 100 percent, and in no other change. It forgets a target in the change that returns a rollout.
func (b Books) auditAdoptions(f *Findings, trail map[Resource][]Event) {
	adopted, completed, told, returned := map[string]Event{}, map[string]Event{}, map[string]Event{}, map[string]Event{}
	for _, events := range trail {
		for _, e := range events {
			switch {
			case e.Name == "ReleaseAdopted":
				adopted[e.RequestID] = e
			case e.Name == "ReleaseReturned":
				told[e.RequestID] = e
			case e.Type == "rollout" && Text(e.Before, "returnedAt") == "" && Text(e.After, "returnedAt") != "":
				returned[e.RequestID] = e
			case e.Type == "rollout" && Text(e.Before, "status") == "active" && Text(e.After, "status") == "completed" &&
				Number(e.After, "staged_percent") == 100:
				completed[e.RequestID] = e
			}
		}
	}
	for request, e := range completed {
		a, ok := adopted[request]
		if !ok || Text(a.After, "currentVersion") != Text(e.After, "targetVersion") || Text(a.After, "sha256") != Text(e.After, "sha256") {
			f.Add("%s: completed at 100 percent, but the channel did not adopt %s", e.Resource, Text(e.After, "targetVersion"))
		}
	}
	for request, e := range returned {
		if _, ok := told[request]; !ok {
			f.Add("%s: returned, but its channel does not tell its boxes anything else", e.Resource)
		}
	}
	for request, e := range told {
		if _, ok := returned[request]; !ok {
			f.Add("%s: returned without a rollout", e.Resource)
		}
	}
	for request, a := range adopted {
		if _, ok := completed[request]; !ok {
			f.Add("%s: adopted %s without a completed rollout", a.Resource, Text(a.After, "currentVersion"))
		}
	}
}

// auditSuperseded: a rollout that says that a publication ended it must have been ended in the
// change of a publication on its channel. No publication may leave a rollout of its channel
// active. A rollout is marked as adopted if the channel adopted its target.
func (b Books) auditSuperseded(f *Findings, trail map[Resource][]Event) {
	published, adopted := map[string]Event{}, map[string]bool{}
	for _, events := range trail {
		for _, e := range events {
			switch e.Name {
			case "ReleasePublished":
				published[e.RequestID] = e
			case "RolloutCompleted":
				adopted[e.ID] = Text(e.Before, "status") == "active" && Number(e.After, "staged_percent") == 100
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
				f.Add("%s: %s has adopted: %v, want %v", r, e.Name, e.After["adopted"], took)
			}
			p, beside := published[e.RequestID]
			ends := Text(e.Before, "endedBy") == "" && Text(e.After, "endedBy") == "publication"
			if beside != ends || ends && p.Resource.ID != pairOf(e.After) {
				f.Add("%s: %s by the request %s, which published on %q, ended by %q", r, e.Name, e.RequestID, p.Resource.ID, Text(e.After, "endedBy"))
			}
		}
	}
}

func (b Books) auditReleases(f *Findings) {
	digests := map[string]string{}
	for _, r := range b[dynamo.Releases] {
		digests[Text(r, "edgeType")+" "+Text(r, "version")] = Text(r, "sha256")
	}
	names := func(what string, item Item, version string) {
		if d := digests[Text(item, "edgeType")+" "+Text(item, version)]; d == "" || d != Text(item, "sha256") {
			f.Add("%s names %s with the digest %q; the published one is %q", what, Text(item, version), Text(item, "sha256"), d)
		}
	}
	for _, c := range b[dynamo.Channels] {
		names("channel "+pairOf(c), c, "currentVersion")
	}
	for _, r := range b[dynamo.Rollouts] {
		names("rollout "+Text(r, "id"), r, "targetVersion")
	}
}

// auditDerived recomputes the attributes for lists and filters.
func (b Books) auditDerived(f *Findings) {
	derive := func(table dynamo.TableID, want func(Item) Item) {
		for _, item := range b[table] {
			for name, value := range want(item) {
				if item[name] != value {
					f.Add("%s: the attribute %s is %v, want %v, in %v", table, name, item[name], value, item)
				}
			}
		}
	}
	// In a local store, a wrong key may give the same order as the right one, so the tests of lists do not see it.
	derive(dynamo.Channels, func(i Item) Item {
		return Item{"list": "channels", "listKey": Text(i, "edgeType") + " " + Text(i, "channel")}
	})
	derive(dynamo.Edges, func(i Item) Item {
		if retired(i) {
			return Item{"pair": "-"}
		}
		place := Text(i, "channel") + "/" + Text(i, "edgeId")
		if i["pin"] != nil {
			place = "#" + Text(i, "edgeId")
		}
		return Item{"pair": pairOf(i), "list": "edge", "place": place}
	})
	derive(dynamo.Rollouts, func(i Item) Item {
		return only(rollout.Kind.Item(as[rollout.Rollout](i)), "list", "pair", "pairStatus", "edgeTypeStatus", "channelStatus")
	})
	derive(dynamo.Methods, func(i Item) Item {
		keys := Item{"productMethod": Text(i, "productId") + "#" + Text(i, "methodId"), "factoryStatus": nil}
		if latest := Object(i, "latest"); latest != nil {
			keys["factoryStatus"] = Text(i, "factoryId") + "#" + Text(latest, "status")
		}
		return keys
	})
	derive(dynamo.MethodVersions, func(i Item) Item { return Item{"number": fmt.Sprintf("%010d", Number(i, "version"))} })
	derive(dynamo.Audit, func(i Item) Item {
		return only(audit.RecordOf(Text(i, "stream"), as[audit.Event](i)),
			"position", "streamResource", "streamActor", "streamResourceActor", "streamOrganization")
	})
}

// only returns attributes of what the service stores for a value; nil for those that it does not have.
func only(value any, names ...string) Item {
	var all Item
	if stored, err := dynamo.Encode(value); err == nil {
		_ = attributevalue.UnmarshalMap(stored, &all) // an Item takes any attributes
	}
	some := Item{}
	for _, name := range names {
		some[name] = all[name]
	}
	return some
}

func (b Books) auditFactories(f *Findings, trail map[Resource][]Event) {
	owners := map[string]string{}
	for _, i := range b[dynamo.Factories] {
		owners[Text(i, "factoryId")] = Text(i, "organizationId")
	}
	made := map[string]bool{}
	for _, table := range []dynamo.TableID{dynamo.Rollouts, dynamo.Enrolments} {
		for _, i := range b[table] {
			made[Text(i, "id")] = true
		}
	}
	for _, table := range []dynamo.TableID{dynamo.Methods, dynamo.MethodVersions, dynamo.Machines, dynamo.Products} {
		for _, i := range b[table] {
			made[Text(i, "methodId")] = true
			if owners[Text(i, "factoryId")] == "" {
				f.Add("%s: %v is in a factory that is not stored", table, i)
			}
		}
	}
	for _, i := range b[dynamo.Idempotency] {
		// The record of a batch contains the answer instead of a thing's id.
		if !made[Text(i, "result")] && !strings.HasPrefix(Text(i, "result"), `{"registered":`) {
			f.Add("an idempotency record names %q, which is not stored", Text(i, "result"))
		}
	}
	for r, events := range trail {
		factory, inside := strings.CutPrefix(r.Stream, "factory/")
		for _, e := range events {
			if inside && e.Organization != owners[factory] {
				f.Add("%s: an event has the organization %q; the factory has %q", r, e.Organization, owners[factory])
			}
		}
	}
}
