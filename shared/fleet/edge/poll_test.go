package edge_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamotest"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/platform/setting"
	"wavegate/shared/trail/audit"
)

// A meter counts the reads of a store by table and strength.
type meter struct {
	dynamo.API
	mu    sync.Mutex
	reads map[string]int
	// blind has the next eventually consistent reads find nothing, as a replica that lags behind does.
	blind bool
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if *in.ConsistentRead {
		m.reads[*in.TableName+" strongly"]++
	} else {
		m.reads[*in.TableName+" eventually"]++
		if m.blind {
			return &dynamodb.GetItemOutput{}, nil
		}
	}
	return m.API.GetItem(ctx, in, o...)
}

// polled runs a test on each store, with a box on a channel and polls over a meter.
func polled(t *testing.T, test func(t *testing.T, m *meter, polls *edge.Polls, id string, edges *edge.Store)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		m := &meter{API: client, reads: map[string]int{}}
		db := dynamo.Open(m, time.Now)
		channel, id := "c-"+uuid.NewString(), "box-"+uuid.NewString()
		_, err := release.NewStore(db).Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{EdgeType: "gateway-x", Channel: channel,
			CurrentVersion: "1.0.0", ArtifactURL: "https://a.example/1", SHA256: "0"}, request.Preconditions{})
		if err != nil {
			t.Fatal(err)
		}
		edges := edge.NewStore(db)
		created, err := edges.Put(admission.Unlimited(t.Context()), audit.Origin{}, id, edge.Assignment{EdgeType: "gateway-x", Channel: channel, OrganizationID: "acme"}, request.Preconditions{})
		if err != nil || !created {
			t.Fatal(created, err)
		}
		clear(m.reads)
		settings := edge.Settings{PollInterval: time.Minute, ChannelCache: time.Hour} // no poll of the test finds it old
		test(t, m, edge.NewPolls(db, settings, time.Now), id, edges)
	})
}

func TestPoll_ReadsTheBoxAtHalfThePriceAndNothingElse(t *testing.T) {
	polled(t, func(t *testing.T, m *meter, polls *edge.Polls, id string, _ *edge.Store) {
		for range 100 {
			if got, err := polls.Manifest(t.Context(), id, "1.0.0"); err != nil || got.Version != "1.0.0" || got.EdgeID != id || got.PollIntervalSeconds != 60 {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
		want := map[string]int{dynamo.Edges.Name() + " eventually": 100, dynamo.Channels.Name() + " strongly": 1}
		if len(m.reads) != len(want) {
			t.Errorf("100 polls made the reads %v, want %v", m.reads, want)
		}
		for read, n := range want {
			if m.reads[read] != n {
				t.Errorf("100 polls made the reads %v, want %v", m.reads, want)
			}
		}
	})
}

func TestPoll_BoxThatAReplicaDoesNotKnowYet_IsReadAgain(t *testing.T) {
	polled(t, func(t *testing.T, m *meter, polls *edge.Polls, id string, _ *edge.Store) {
		m.blind = true
		if got, err := polls.Manifest(t.Context(), id, ""); err != nil || got.Version != "1.0.0" {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, err := polls.Manifest(t.Context(), "no-such-box", ""); !problem.Has(err, problem.NotFound) {
			t.Errorf("a box that does not exist: %v", err)
		}
	})
}

func TestPoll_ChannelThatNothingIsPublishedOn_IsNotFoundAndNamed(t *testing.T) {
	polled(t, func(t *testing.T, _ *meter, polls *edge.Polls, id string, edges *edge.Store) {
		if _, err := edges.Put(admission.Unlimited(t.Context()), audit.Origin{}, id, edge.Assignment{EdgeType: "gateway-x", Channel: "none", OrganizationID: "acme"}, request.Preconditions{}); err != nil {
			t.Fatal(err)
		}
		_, err := polls.Manifest(t.Context(), id, "")
		if p := problem.From(err); p.Code != problem.NotFound || p.Detail == problem.Missing().Detail {
			t.Errorf("got %v", err)
		}
	})
}

func TestEncode_SameBytesSameTag(t *testing.T) {
	one := edge.Manifest{EdgeID: "box-1", Version: "1.0.0", PollIntervalSeconds: 60}
	_, tag, err := one.Encode()
	if err != nil || len(tag) != 24 || tag[0] != '"' {
		t.Fatalf("tag %s, %v", tag, err)
	}
	changes := map[string]func(*edge.Manifest){
		"edge id":   func(m *edge.Manifest) { m.EdgeID = "box-2" },
		"edge type": func(m *edge.Manifest) { m.EdgeType = "x" },
		"channel":   func(m *edge.Manifest) { m.Channel = "x" },
		"version":   func(m *edge.Manifest) { m.Version = "1.0.1" },
		"place":     func(m *edge.Manifest) { m.ArtifactURL = "x" },
		"digest":    func(m *edge.Manifest) { m.SHA256 = "x" },
		"source":    func(m *edge.Manifest) { m.Source = edge.FromRollout },
		"rollout":   func(m *edge.Manifest) { m.RolloutID = "x" },
		"interval":  func(m *edge.Manifest) { m.PollIntervalSeconds = 61 },
		"nothing":   func(*edge.Manifest) {},
	}
	for name, change := range changes {
		other := one
		change(&other)
		if _, got, _ := other.Encode(); (got == tag) != (name == "nothing") {
			t.Errorf("%s changed: tag %s, before %s", name, got, tag)
		}
	}
}

func TestSettings_AreReadInSeconds(t *testing.T) {
	t.Setenv("POLL_INTERVAL_SECONDS", "15")
	r := setting.NewReader(setting.PollIntervalSeconds, setting.ChannelCacheSeconds)
	if s := edge.ReadSettings(r); r.Err() != nil || s != (edge.Settings{PollInterval: 15 * time.Second, ChannelCache: 2 * time.Second}) {
		t.Errorf("got %+v, %v", s, r.Err())
	}
}
