package export

import (
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/ratelimit"
	"wavegate/shared/trail/audit"
)

// A source is a list of items: one partition of a table or of an index.
type source struct {
	kind  string
	table dynamo.TableID
	index string
	// keys bound the sort keys; nil means all items.
	keys func(parent row) (least, most string)
	// partition is the list's partition, given the organization and the item that the list belongs to. Empty means no
	// list.
	partition func(organizationID string, parent row) string
	// inside are the lists that belong to each item.
	inside []source
	// behind replaces a sort key in positions, which callers see. The replacement must keep the order of the list's
	// keys.
	behind func(key string) string
}

// last is a sort key after all others.
const last = "~"

// theOnly replaces the sort key in positions if the table has none.
const theOnly = "."

// sort is the attribute of the list's sort key; empty if there is none.
func (s source) sort() string {
	table := dynamo.TableOf(s.table)
	for _, x := range table.Indexes {
		if x.Name == s.index {
			return x.Sort
		}
	}
	return table.Sort
}

// key is an item's sort key in positions.
func (s source) key(item row) string {
	name := s.sort()
	if name == "" {
		return theOnly
	}
	if s.behind != nil {
		return s.behind(item.text(name))
	}
	return item.text(name)
}

// withoutHash replaces the token hash at the end of a sort key by a letter that sorts after all hex digits.
func withoutHash(key string) string {
	const most = 56
	if len(key) < most+len("ids") {
		return key
	}
	return key[:len(key)-most] + "g"
}

func organization(id string, _ row) string { return id }

func by(name string) func(string, row) string {
	return func(_ string, parent row) string { return parent.text(name) }
}

// sources are all lists of an organization. Their order must not change while an export may run, because positions
// number them.
var sources = append([]source{
	{kind: "gateway", table: dynamo.Gateways, partition: organization},
	{kind: "rate-limit", table: dynamo.RateOverrides, partition: func(id string, _ row) string { return ratelimit.OrganizationOverride(id) }},
	{kind: "edge", table: dynamo.Edges, index: "byOrganization", partition: organization, inside: []source{report, stays}},
	{kind: "enrolment", table: dynamo.Enrolments, index: "byOrganization", partition: organization, inside: []source{
		{kind: "enrolment-boxes", table: dynamo.Enrolments, partition: by("id"), behind: withoutHash,
			keys: func(row) (string, string) { return "ids", last }}, // not the enrolment itself
	}},
	{kind: "release-support", table: dynamo.Progress, partition: func(id string, _ row) string { return "support/" + id }},
	{kind: "factory", table: dynamo.Factories, index: "byOrganization", partition: organization, inside: []source{
		{kind: "machine", table: dynamo.Machines, partition: by("factoryId")},
		{kind: "production-method", table: dynamo.Methods, partition: by("factoryId"), inside: []source{
			{kind: "production-method-version", table: dynamo.MethodVersions, partition: by("methodId")},
			{kind: "production-method-content", table: dynamo.MethodContents, partition: by("methodId")},
			{kind: "production-method-report", table: dynamo.MethodReports, partition: by("methodId")},
		}},
		{kind: "recall", table: dynamo.Progress, partition: func(string, row) string { return "recalls" },
			keys: func(factory row) (string, string) {
				return factory.text("factoryId") + "/", factory.text("factoryId") + "/" + last
			}},
		{kind: "audit-event", table: dynamo.Audit, partition: func(_ string, parent row) string { return audit.Factory(parent.text("factoryId")) }},
		{kind: "product", table: dynamo.Products, partition: by("factoryId")},
	}},
}, events()...)

// report is what a box reported.
var report = source{kind: "edge-report", table: dynamo.Reports, partition: by("edgeId")}

// stays are what a box ran and was told while it was the organization's.
var stays = source{kind: "edge-stay", table: dynamo.Stays, partition: by("edgeId")}

// events are the organization's audit events in the streams that it shares with others.
func events() []source {
	var list []source
	for _, stream := range audit.Shared() {
		list = append(list, source{kind: "audit-event", table: dynamo.Audit, index: "byOrganization",
			partition: func(id string, _ row) string { return audit.OfOrganization(stream, id) }})
	}
	return list
}

// Elsewhere are the tables that an export does not read, and why.
var Elsewhere = map[dynamo.TableID]string{
	dynamo.Channels:     "the platform's; no organization owns a channel",
	dynamo.Releases:     "the platform's; no organization owns a release",
	dynamo.Rollouts:     "the platform's; no organization owns a rollout or the freeze",
	dynamo.RateCounters: "the limits' own counts of calls and registrations, for 35 days, under hashes of users",
	dynamo.Bells:        "which boxes should poll soon, for some minutes, by release channel",
	dynamo.MethodPlaces: "an index of the methods by the machines and classes that their versions name",
	dynamo.Idempotency:  "hashes of calls, for a day, under a hash of the caller and the key",
}
