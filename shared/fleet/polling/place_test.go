package polling_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// A meter counts the calls of a store by table and kind.
type meter struct {
	dynamo.API
	mu    sync.Mutex
	calls map[string]int
	// blind makes the next eventually consistent reads find nothing, like a lagging replica; with old, they find that item
	// instead.
	blind bool
	old   *dynamodb.GetItemOutput
	// put, if set, is called before an item is put.
	put func(context.Context) error
}

func (m *meter) count(table, kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[table+" "+kind]++
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if *in.ConsistentRead {
		m.count(*in.TableName, "strongly")
		return m.API.GetItem(ctx, in, o...)
	}
	m.count(*in.TableName, "eventually")
	switch {
	case m.blind:
		return &dynamodb.GetItemOutput{}, nil
	case m.old != nil:
		return m.old, nil
	}
	return m.API.GetItem(ctx, in, o...)
}

func (m *meter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	m.count(*in.TableName, "puts")
	if m.put != nil {
		if err := m.put(ctx); err != nil {
			return nil, err
		}
	}
	return m.API.UpdateItem(ctx, in, o...)
}

func (m *meter) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, part := range in.TransactItems {
		switch {
		case part.Put != nil:
			m.count(*part.Put.TableName, "puts")
		case part.Update != nil:
			m.count(*part.Update.TableName, "puts")
		}
	}
	return m.API.TransactWriteItems(ctx, in, o...)
}

// A place is a box on a channel, and polls on a metered store.
type place struct {
	*meter
	db       *dynamo.DB
	polls    *polling.Polls
	registry *edge.Registry
	reports  *report.Store
	id       string
	box      edge.Assignment
}

// polled runs a test on each store.
func polled(t *testing.T, test func(t *testing.T, p *place)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		test(t, newPlace(t, client))
	})
}

var owner = auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}

// newPlace registers a box on a channel of its own that has 1.0.0.
func newPlace(t *testing.T, client *dynamodb.Client) *place {
	t.Helper()
	p := &place{meter: &meter{API: client, calls: map[string]int{}}, id: "box-" + uuid.NewString()}
	p.db = dynamo.Open(p.meter, time.Now)
	db := p.db
	p.box = edge.Assignment{EdgeType: "gateway-" + uuid.NewString(), Channel: "c-" + uuid.NewString(), OrganizationID: "acme"}
	_, err := publication.NewStore(db).Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{EdgeType: p.box.EdgeType, Channel: p.box.Channel,
		CurrentVersion: "1.0.0", ArtifactURL: "https://a.example/1", SHA256: "0"}, input.Preconditions{})
	expect.OK(t, err)
	p.registry, p.reports = edge.NewRegistry(db, 1).For(owner), report.NewStore(db, 1)
	p.register(t)
	clear(p.calls)
	p.forget()
	return p
}

// forget makes the next poll read the channel. Otherwise the polls of a test use the cached channel.
func (p *place) forget() {
	p.polls = polling.NewPolls(p.db, polling.Settings{PollInterval: time.Minute, ChannelCache: time.Hour, Shards: 1}, nil, time.Now)
}

func (p *place) register(t *testing.T) {
	t.Helper()
	expect.Value(p.registry.Put(admission.Unlimited(t.Context()), audit.Origin{}, p.id, p.box, input.Preconditions{}))(t)
}

// ask polls as the box.
func (p *place) ask(t *testing.T, installed, tag string) polling.Reply {
	t.Helper()
	reply, err := p.polls.Answer(admission.Unlimited(t.Context()), polling.Poll{EdgeID: p.id, Installed: installed, Caller: "the box", Tag: tag, Subject: "its subject"})
	expect.OK(t, err)
	return reply
}

func (p *place) row(t *testing.T) report.Row {
	t.Helper()
	row := expect.Value(p.reports.Get(t.Context(), p.id))(t)
	return row
}
