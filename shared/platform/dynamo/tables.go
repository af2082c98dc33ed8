package dynamo

import (
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A TableID names a table in code. The table's name in an account is a setting; see
// TableID.Name.
type TableID string

// The tables. Each definition below says what the table contains.
const (
	Channels      TableID = "channels"
	Releases      TableID = "releases"
	Rollouts      TableID = "rollouts"
	Methods       TableID = "recipes"
	Factories     TableID = "factories"
	Machines      TableID = "machines"
	Products      TableID = "products"
	Edges         TableID = "edges"
	Gateways      TableID = "gateways"
	Enrolments    TableID = "enrolments"
	Audit         TableID = "audit"
	Idempotency   TableID = "idempotency"
	RateCounters  TableID = "rate-counters"
	RateOverrides TableID = "rate-overrides"
	Reports       TableID = "reports"
	Stays         TableID = "stays"
	Progress      TableID = "progress"
	Bells         TableID = "bells"

	MethodVersions TableID = "method-versions"
	MethodContents TableID = "method-contents"
	MethodReports  TableID = "method-reports"
	MethodPlaces   TableID = "method-places"
)

// EnvName is the environment variable with the table's name.
func (id TableID) EnvName() string {
	return "TABLE_" + strings.ToUpper(strings.ReplaceAll(string(id), "-", "_"))
}

// Name is the table's name in this process's account or store.
func (id TableID) Name() string { return os.Getenv(id.EnvName()) }

// A Permission is one DynamoDB permission. A transaction needs the permission of each of its parts.
type Permission string

// These are the actions that operations use. Scan is missing on purpose and must never be added.
//
// Write is for items that change: both PutItem and UpdateItem. The function of an earlier or a later release, which has
// the same role during a deploy, may use the other one.
const (
	Get            Permission = "GetItem"
	BatchGet       Permission = "BatchGetItem"
	Query          Permission = "Query"
	Put            Permission = "PutItem"
	Update         Permission = "UpdateItem"
	Delete         Permission = "DeleteItem"
	ConditionCheck Permission = "ConditionCheckItem"
	Write          Permission = "Write"
)

// Actions lists the actions of DynamoDB that a permission allows.
func (p Permission) Actions() []Permission {
	if p == Write {
		return []Permission{Put, Update}
	}
	return []Permission{p}
}

// An Index is another order of a table's items. All key attributes are strings. A Local index
// has the table's partition key and can be read strongly consistent. A global index lags behind
// the table.
type Index struct {
	Name      string
	Local     bool
	Partition string
	Sort      string
	// Holds are the attributes in the index besides the keys; nil means all.
	Holds []string
}

// A Table is a table's definition, from which both the stack and the local set-up create it. Key
// attributes are strings.
type Table struct {
	ID        TableID
	Partition string
	Sort      string // empty means no sort key
	Indexes   []Index
	TTL       string // the attribute with an item's expiry in epoch seconds; empty means none
	// Ephemeral tables contain nothing worth restoring: the service continues without it. They have no point-in-time
	// recovery and no deletion protection.
	Ephemeral bool
}

// Tables lists every table.
var Tables = []Table{
	// One item for each release channel. Its attribute rollout is a copy of the channel's present
	// or last rollout, so that a poll reads one item.
	{ID: Channels, Partition: "edgeType", Sort: "channel",
		Indexes: []Index{{Name: "all", Partition: "list", Sort: "listKey"}}},
	// Every published version of an edge type, with its digest.
	{ID: Releases, Partition: "edgeType", Sort: "version"},
	// Rollout ids are UUIDs of version 7, so they sort by start. Every combination of the
	// filters edgeType, channel and status has an index, so that no query reads items that the
	// page does not show. A rollout is written only a few times, so the indexes cost little.
	{ID: Rollouts, Partition: "id", Indexes: []Index{
		{Name: "all", Partition: "list", Sort: "id"},
		{Name: "byEdgeType", Partition: "edgeType", Sort: "id"},
		{Name: "byChannelName", Partition: "channel", Sort: "id"},
		{Name: "byChannel", Partition: "pair", Sort: "id"},
		{Name: "byStatus", Partition: "status", Sort: "id"},
		{Name: "byEdgeTypeAndStatus", Partition: "edgeTypeStatus", Sort: "id"},
		{Name: "byChannelNameAndStatus", Partition: "channelStatus", Sort: "id"},
		{Name: "byChannelAndStatus", Partition: "pairStatus", Sort: "id"}}},
	// The production methods of a factory, by creation. The table's name is older than that term.
	// The local index sorts them by product first, and is as fresh as the table.
	{ID: Methods, Partition: "factoryId", Sort: "methodId",
		Indexes: []Index{
			{Name: "byProduct", Local: true, Partition: "factoryId", Sort: "productMethod"},
			// By the status of the latest version. It does not contain methods without a
			// version.
			{Name: "byStatus", Partition: "factoryStatus", Sort: "methodId"}}},
	// The versions of a method, by their number in ten digits.
	{ID: MethodVersions, Partition: "methodId", Sort: "number"},
	// The contents of a method's versions, by their SHA-256. Lists do not read them. Items are
	// never rewritten, because other bytes have another key.
	{ID: MethodContents, Partition: "methodId", Sort: "sha256"},
	// The methods whose versions name a machine or a class, by that machine or class. Items are only added: a poll
	// reads the methods and finds which versions hold.
	{ID: MethodPlaces, Partition: "place", Sort: "methodId"},
	// What each machine has said about the versions of a method.
	{ID: MethodReports, Partition: "methodId", Sort: "machine"},
	{ID: Factories, Partition: "factoryId",
		Indexes: []Index{{Name: "byOrganization", Partition: "organizationId", Sort: "factoryId"}}},
	{ID: Machines, Partition: "factoryId", Sort: "code"},
	// The products of a factory that somebody has named.
	{ID: Products, Partition: "factoryId", Sort: "productId"},
	{ID: Edges, Partition: "edgeId", Indexes: []Index{
		{Name: "all", Partition: "list", Sort: "edgeId"},
		{Name: "byChannel", Partition: "pair", Sort: "edgeId"},
		{Name: "byOrganization", Partition: "organizationId", Sort: "edgeId"},
		// The boxes of a type by channel, the pinned ones first: so every channel that has boxes is found, also one without a publication.
		{Name: "byPlace", Partition: "edgeType", Sort: "place", Holds: []string{"channel", "pin"}}}},
	// The gateways of organizations, each with the hash of its token.
	{ID: Gateways, Partition: "organizationId"},
	// The enrolments, each with the hash of its code. In parts of their own, so that no list reads them, are the ids of an
	// enrolment's boxes, and the boxes that wait to be accepted. All go some months after the enrolment has expired.
	{ID: Enrolments, Partition: "id", Sort: "part", TTL: "expires", Indexes: []Index{
		{Name: "byOrganization", Partition: "organizationId", Sort: "listKey"}}},
	// Audit events, append only, by stream (a factory, the platform, or a shard of the boxes) and time. There is an index
	// for each way to filter a stream. They are global although local ones would not lag: a table
	// with a local index holds 10 GB a partition at most, and then no change could be written.
	{ID: Audit, Partition: "stream", Sort: "position", Indexes: []Index{
		{Name: "byResource", Partition: "streamResource", Sort: "position"},
		{Name: "byActor", Partition: "streamActor", Sort: "position"},
		{Name: "byResourceAndActor", Partition: "streamResourceActor", Sort: "position"},
		// Only of the streams that several organizations share, and only events of what an organization owns.
		{Name: "byOrganization", Partition: "streamOrganization", Sort: "position"}}},
	{ID: Idempotency, Partition: "key", TTL: "expires", Ephemeral: true},
	{ID: RateCounters, Partition: "subject", TTL: "ttl", Ephemeral: true},
	{ID: RateOverrides, Partition: "subject"},
	// One row for each box: what it was offered, runs and reported. The index contains the boxes
	// of a release channel, spread over shards, sorted by their offer and its progress. It
	// contains only what a census needs, because a census reads all of it. Besides the rows, there are traces of what boxes
	// did in a rollout before their registration changed; only traces expire.
	{ID: Reports, Partition: "edgeId", TTL: "expires", Indexes: []Index{
		{Name: "byState", Partition: "shard", Sort: "stateKey", Holds: []string{"running", "rolloutId", "factoryId", "organizationId", "code", "since"}}}},
	// What each box ran and was told before: an item for each stay on a version, once it has ended, by its beginning. The
	// index has the stays of a version, spread over shards, by organization and box. Items are only added.
	{ID: Stays, Partition: "edgeId", Sort: "began", TTL: "expires", Indexes: []Index{
		{Name: "byVersion", Partition: "shard", Sort: "place"}}},
	// The last census of a rollout or a channel, its history and the notifications about it. Also the recalls of
	// production methods that are watched.
	{ID: Progress, Partition: "subject", Sort: "part"},
	// What rang on a release channel besides the changes to its row: the boxes that are called, for some minutes. If an
	// item is lost, all boxes of its channel poll once.
	{ID: Bells, Partition: "edgeType", Sort: "channel", Ephemeral: true},
}

// TableOf returns the definition of a table.
func TableOf(id TableID) Table {
	for _, t := range Tables {
		if t.ID == id {
			return t
		}
	}
	panic("dynamo: no table " + string(id))
}

// CreateInput is the request that creates the table in a local store, with the given name.
func (t Table) CreateInput(name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   schema(t.Partition, t.Sort),
	}
	attributes := map[string]bool{}
	declare := func(names ...string) {
		for _, n := range names {
			if n != "" && !attributes[n] {
				attributes[n] = true
				in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
					AttributeName: aws.String(n), AttributeType: types.ScalarAttributeTypeS})
			}
		}
	}
	declare(t.Partition, t.Sort)
	for _, x := range t.Indexes {
		declare(x.Partition, x.Sort)
		if x.Local {
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
				IndexName: aws.String(x.Name), KeySchema: schema(x.Partition, x.Sort), Projection: x.projection()})
			continue
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(x.Name), KeySchema: schema(x.Partition, x.Sort), Projection: x.projection()})
	}
	return in
}

func (x Index) projection() *types.Projection {
	if x.Holds == nil {
		return &types.Projection{ProjectionType: types.ProjectionTypeAll}
	}
	return &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: x.Holds}
}

func schema(partition, sort string) []types.KeySchemaElement {
	keys := []types.KeySchemaElement{{AttributeName: aws.String(partition), KeyType: types.KeyTypeHash}}
	if sort != "" {
		keys = append(keys, types.KeySchemaElement{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange})
	}
	return keys
}
