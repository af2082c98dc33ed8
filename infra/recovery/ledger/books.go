// Package ledger compares the tables with the audit trail: every change has its event, and tables that are written together
// agree.
//
// It reads tables as plain items, so that it sees what is stored and not what the service makes of it.
package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/method"
	"wavegate/shared/production/product"
	"wavegate/shared/trail/audit"
)

// An Item is an item of a table, with the value types of encoding/json.
type Item = map[string]any

// Books are all items of all tables, except the limiter's counters and the bell's calls. The freeze is stored among
// the rollouts, but is listed under freezes; warnings are stored among the counts, but are listed under warnings and supports;
// and artifacts, the settings of edge types and what is said of releases among the releases.
type Books map[dynamo.TableID][]Item

const (
	freezes   dynamo.TableID = "freezes"
	warnings  dynamo.TableID = "warnings"
	supports  dynamo.TableID = "supports"
	artifacts dynamo.TableID = "artifacts"
	types     dynamo.TableID = "edge-types"
	said      dynamo.TableID = "said"
)

// Read reads all tables, by their names, strongly consistent.
func Read(ctx context.Context, db *dynamodb.Client, name func(dynamo.TableID) string) (Books, error) {
	books := Books{}
	err := scan(ctx, db, name, func(table dynamo.TableID, item Item) error {
		books[table] = append(books[table], item)
		return nil
	})
	return books, err
}

// scan calls a function with every item of all tables, and with the table under which Books lists it.
func scan(ctx context.Context, db *dynamodb.Client, name func(dynamo.TableID) string, each func(dynamo.TableID, Item) error) error {
	for _, table := range dynamo.Tables {
		if table.ID == dynamo.RateCounters || table.ID == dynamo.Bells {
			continue
		}
		pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{
			TableName: aws.String(name(table.ID)), ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return fmt.Errorf("ledger: read %s: %w", table.ID, err)
			}
			for _, stored := range page.Items {
				var item Item
				if err := attributevalue.UnmarshalMap(stored, &item); err != nil {
					return fmt.Errorf("ledger: read %s: %w", table.ID, err)
				}
				under := listedUnder(table.ID, item)
				if under == "" {
					continue
				}
				if err := each(under, item); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// listedUnder is the table under which Books lists an item; empty: it is no resource. The parts of an item that lies among others are
// named.
func listedUnder(table dynamo.TableID, item Item) dynamo.TableID {
	switch id := Text(item, "id"); {
	case table == dynamo.Rollouts && id == "freeze":
		return freezes
	case table == dynamo.Releases && amongReleases[Text(item, "edgeType")] != "":
		under := amongReleases[Text(item, "edgeType")]
		item["edgeType"], item["sha256"], _ = strings.Cut(Text(item, "version"), "/")
		return under
	case table == dynamo.Releases && strings.HasPrefix(Text(item, "edgeType"), release.ContentsPrefix):
		return "" // The trail has the digests of the pieces.
	case table == dynamo.Progress && Text(item, "part") == "warnings":
		return warnings
	case table == dynamo.Progress && strings.HasPrefix(Text(item, "subject"), "support/"):
		return supports
	case table == dynamo.Rollouts && strings.HasPrefix(id, "halt#"):
		return "" // It records the attempt to halt.
	case table == dynamo.Enrolments && Text(item, "part") != "enrolment":
		return "" // The ids of an enrolment, and boxes that wait.
	}
	return table
}

// amongReleases are the kinds that lie in partitions of their own in the table of releases.
var amongReleases = map[string]dynamo.TableID{artifact.Partition: artifacts, edgetype.Partition: types, release.SaidPartition: said}

// Text returns a text, or an empty one if it is missing.
func Text(item Item, name string) string { s, _ := item[name].(string); return s }

// Plain returns an attribute in the form of a resource id: a text or a whole number.
func Plain(item Item, name string) string {
	if f, ok := item[name].(float64); ok {
		return strconv.FormatInt(int64(f), 10)
	}
	return Text(item, name)
}

// Number returns a whole number, or 0 if it is missing.
func Number(item Item, name string) int64 { f, _ := item[name].(float64); return int64(f) }

// moment returns an attribute's time, or the zero time if it is missing.
func moment(item Item, name string) time.Time {
	at, _ := time.Parse(time.RFC3339, Text(item, name))
	return at
}

// Object returns an object, or nil if it is missing.
func Object(item Item, name string) Item { m, _ := item[name].(Item); return m }

// as returns a value as another type, by its JSON. A value that cannot be read is the zero value, which agrees with nothing.
func as[T any](value any) T {
	var v, none T
	text, err := json.Marshal(value)
	if err != nil || json.Unmarshal(text, &v) != nil {
		return none
	}
	return v
}

// A Resource is a resource in the audit trail.
type Resource struct {
	Stream string // in the audit trail
	Type   string
	ID     string
}

func (r Resource) String() string { return fmt.Sprintf("%s %s in %s", r.Type, r.ID, r.Stream) }

// An Event is an event of the audit trail.
type Event struct {
	Resource
	ID, Name      string
	Time          time.Time
	RequestID     string
	Issuer, User  string
	Organization  string
	Revision      int64
	Before, After Item // nil if missing
	stored        Item
}

// Trail is the audit trail: every resource's events in the order of their revisions.
func (b Books) Trail() map[Resource][]Event {
	trail := map[Resource][]Event{}
	for _, item := range b[dynamo.Audit] {
		what, actor := Object(item, "resource"), Object(item, "actor")
		e := Event{
			Resource: Resource{Text(item, "stream"), Text(what, "type"), Text(what, "id")},
			ID:       Text(item, "eventId"), Name: Text(item, "eventName"), Time: moment(item, "eventTime"),
			RequestID: Text(item, "requestId"), Issuer: Text(actor, "issuer"), User: Text(actor, "userId"),
			Organization: Text(item, "organizationId"), Revision: Number(what, "revision"),
			Before: Object(item, "before"), After: Object(item, "after"), stored: item,
		}
		trail[e.Resource] = append(trail[e.Resource], e)
	}
	for _, events := range trail {
		slices.SortFunc(events, func(x, y Event) int { return cmp.Compare(x.Revision, y.Revision) })
	}
	return trail
}

// Things are the stored resources that the trail has events of.
func (b Books) Things() map[Resource]Item {
	things := map[Resource]Item{}
	for _, k := range kinds {
		for _, item := range b[k.table] {
			if urgent := Object(item, "haste")["urgent"]; k.table == dynamo.Channels && urgent != nil {
				item = maps.Clone(item)
				item["urgent"] = urgent
			}
			things[Resource{k.stream(item), k.name, k.id(item)}] = item
		}
	}
	return things
}

// A kind says how the resources of one table appear in the trail.
type kind struct {
	table  dynamo.TableID
	name   string
	stream func(Item) string
	id     func(Item) string
	// hidden are the attributes that callers do not see.
	hidden []string
}

func platform(Item) string        { return audit.Platform }
func shard(i Item) string         { return audit.Box(Text(i, "edgeId")) }
func insideFactory(i Item) string { return audit.Factory(Text(i, "factoryId")) }

func by(name string) func(Item) string {
	return func(i Item) string { return Text(i, name) }
}

// beside are the attributes of a stored struct that another struct, which callers see, does not have.
func beside[Stored, Shown any]() []string {
	return slices.DeleteFunc(attributes[Stored](), func(name string) bool { return slices.Contains(attributes[Shown](), name) })
}

func attributes[T any]() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

var kinds = []kind{
	{dynamo.Channels, "release-channel", platform, pairOf, append(beside[release.ChannelRow, release.Channel](), "list", "listKey")},
	{dynamo.Rollouts, "rollout", platform, by("id"),
		[]string{"list", "pair", "edgeTypeStatus", "channelStatus", "pairStatus"}},
	{artifacts, artifact.ResourceType, platform, by("version"), []string{"version", "key", "arrived", "removing", "uses"}},
	{said, release.SaidType, platform, by("version"), []string{"edgeType", "version", "sha256"}},
	{types, edgetype.ResourceType, platform, by("edgeType"), []string{"version", "sha256"}},
	{warnings, "rollout-warning", platform, by("rolloutId"), []string{"subject", "part"}},
	{supports, "release-support", platform, func(i Item) string { return Text(i, "organizationId") + "/" + Text(i, "part") }, []string{"subject", "part"}},
	{freezes, "freeze", platform, by("id"), []string{"id", "lifted"}},
	{dynamo.Factories, "factory", platform, by("factoryId"), []string{"machineChanges", "machineCount"}},
	{dynamo.Edges, "edge", shard, by("edgeId"), []string{"pair", "list", "place"}},
	{dynamo.Gateways, "gateway", platform, by("organizationId"), []string{"tokens"}},
	{dynamo.Enrolments, "enrolment", platform, by("id"), []string{"part", "listKey", "expires", "codeSha256"}},
	{dynamo.RateOverrides, "rate-limit", platform, by("subject"), []string{"subject", "removed"}},
	{dynamo.Methods, method.ResourceType, insideFactory, by("methodId"), []string{"productMethod", "factoryStatus"}},
	{dynamo.MethodVersions, method.VersionResourceType, insideFactory,
		func(i Item) string { return Text(i, "methodId") + ":" + Plain(i, "version") }, []string{"number"}},
	{dynamo.Machines, "machine", insideFactory, by("code"), nil},
	{dynamo.Products, product.ResourceType, insideFactory, by("productId"), nil},
	{dynamo.MethodReports, "method-on-machine", insideFactory,
		func(i Item) string { return Text(i, "machine") + "/" + Text(i, "methodId") }, []string{"subject"}},
}

// Of returns a resource of a type, by its id. It is in the stream that the attributes name: of its factory or box, or of the
// platform.
func Of(name, id string, attributes Item) Resource {
	for _, k := range kinds {
		if k.name == name {
			return Resource{k.stream(attributes), name, id}
		}
	}
	panic("ledger: no kind " + name)
}
