package polling_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

func TestPoll_NothingNew_ReadsTheBoxAtHalfThePriceAndNothingElse(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		tag := p.ask(t, "1.0.0", "").ETag
		clear(p.calls)
		for range 100 {
			reply := p.ask(t, "1.0.0", tag)
			expect.Must(t, reply.NotModified && reply.ETag == tag, "got %+v", reply)
		}
		want := map[string]int{dynamo.Reports.Name() + " eventually": 100}
		expect.That(t, maps.Equal(p.calls, want), "100 polls made the calls %v, want %v", p.calls, want)
	})
}

func TestPoll_SomethingNew_IsRecordedInOneReadAndOneWrite(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		told := p.ask(t, "0.9.0", "")
		if row := p.row(t); row.Told != "1.0.0" || row.Running != "0.9.0" || row.Subject != "its subject" || row.Offer == nil || row.Offer.State != report.Offered {
			t.Errorf("told: %+v", row)
		}
		clear(p.calls)
		runs := p.ask(t, "1.0.0", told.ETag)
		want := map[string]int{dynamo.Reports.Name() + " eventually": 1, dynamo.Reports.Name() + " strongly": 1, dynamo.Reports.Name() + " puts": 1,
			dynamo.Stays.Name() + " puts": 1} // 0.9.0 ends
		expect.That(t, maps.Equal(p.calls, want) && runs.ETag != "" && runs.ETag != told.ETag,
			"%+v by the calls %v, want %v", runs, p.calls, want)
		row := p.row(t)
		expect.That(t, row.Running == "1.0.0" && row.Offer.State == report.Installed, "runs it: %+v", row)
		clear(p.calls)
		p.ask(t, "1.0.0", "")
		n := p.calls[dynamo.Reports.Name()+" puts"]
		expect.That(t, n == 0, "a poll that changed nothing wrote %d rows", n)
	})
}

func TestPoll_ReportCannotBeWritten_IsAnsweredWithoutAReceiptAndMadeUpFor(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		p.put = func(context.Context) error { return errors.New("throttled") }
		lost := p.ask(t, "1.0.0", "")
		expect.Must(t, lost.Manifest.Version != "" && lost.ETag == "" && lost.Unrecorded != nil, "got %+v", lost)
		p.put = nil
		made := p.ask(t, "1.0.0", lost.ETag)
		if made.ETag == "" || p.row(t).Running != "1.0.0" {
			t.Errorf("the next poll: %+v, %+v", made, p.row(t))
		}
	})
}

func TestPoll_StoreDoesNotAnswer_TheBoxIsAnsweredAtTheDeadline(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		p.put = func(ctx context.Context) error {
			ends, ok := ctx.Deadline()
			expect.That(t, ok && time.Until(ends) <= 200*time.Millisecond, "the write may take until %v", ends)
			<-ctx.Done()
			return ctx.Err()
		}
		reply := p.ask(t, "1.0.0", "")
		expect.That(t, reply.Manifest.Version != "" && reply.ETag == "", "got %+v", reply)
	})
}

func TestPoll_SomebodyElseLooks_IsNoReport(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		look := polling.Poll{EdgeID: p.id, Installed: "0.1.0", Caller: "olga"}
		reply, err := p.polls.Answer(admission.Unlimited(t.Context()), look)
		if err != nil || reply.Manifest.Version == "" || p.row(t).Told != "" {
			t.Errorf("got %+v, %v; the row is %+v", reply, err, p.row(t))
		}
		box := p.ask(t, "0.1.0", reply.ETag)
		expect.That(t, !box.NotModified, "the tag of another caller's answer is accepted as the box's receipt")
	})
}

func TestPoll_NotAdmitted_IsNoReport(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		refusal := problem.New(problem.RateLimited, "Wait.")
		a := admission.Ask(func() (http.Header, error) { return nil, refusal })
		_, err := p.polls.Answer(a.Context(t.Context()), polling.Poll{EdgeID: p.id, Installed: "1.0.0", Caller: "the box", Subject: "its subject"})
		if !errors.Is(err, refusal) || p.row(t).Told != "" || p.calls[dynamo.Reports.Name()+" strongly"] != 1 { // the test's own read
			t.Errorf("got %v; the row is %+v by %v", err, p.row(t), p.calls)
		}
	})
}

// TestPoll_ReadFromAReplicaThatLags_DoesNotPlaceTheBox: the box was moved, but its poll still finds the old channel.
func TestPoll_ReadFromAReplicaThatLags_DoesNotPlaceTheBox(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		old := expect.Value(p.API.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(dynamo.Reports.Name()),
			Key: map[string]types.AttributeValue{"edgeId": &types.AttributeValueMemberS{Value: p.id}}}))(t)
		was := p.box.Channel
		p.box.Channel = "c-" + uuid.NewString()
		p.register(t)
		p.old = old
		reply := p.ask(t, "1.0.0", "")
		expect.That(t, reply.ETag == "" && errors.Is(reply.Unrecorded, report.ErrOutdated), "got %+v", reply)
		row := p.row(t)
		expect.That(t, row.Channel == p.box.Channel && row.Told == "", "moved from %s: %+v", was, row)
	})
}

func TestPoll_BoxThatAReplicaDoesNotKnowYet_IsReadAgain(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		p.blind = true
		reply := p.ask(t, "", "")
		expect.That(t, reply.Manifest.Version != "", "got %+v", reply)
		_, err := p.polls.Answer(t.Context(), polling.Poll{EdgeID: "no-such-box"})
		expect.That(t, problem.Has(err, problem.NotFound), "a box that does not exist: %v", err)
	})
}

func TestPoll_ChannelThatNothingIsPublishedOn_IsNotFoundAndNamed(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		p.box.Channel = "none"
		p.register(t)
		_, err := p.polls.Answer(t.Context(), polling.Poll{EdgeID: p.id})
		if p := problem.From(err); p.Code != problem.NotFound || p.Detail == problem.Missing().Detail {
			t.Errorf("got %v", err)
		}
	})
}

func TestRetire_TheBoxIsGoneFromPollsAndCounts_AndCanComeBack(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		ctx := admission.Unlimited(t.Context())
		pair := p.box.EdgeType + "/" + p.box.Channel
		counted := func() (n int) {
			expect.OK(t, p.reports.Each(ctx, pair, 0, func(report.IndexEntry) { n++ }, func(err error) { t.Error(err) }))
			return n
		}
		p.ask(t, "0.9.0", "")
		n := counted()
		expect.Must(t, n == 1, "%d boxes are counted", n)
		expect.OK(t, p.registry.Retire(ctx, audit.Origin{}, p.id, input.Preconditions{}))
		if _, err := p.polls.Answer(ctx, polling.Poll{EdgeID: p.id}); !problem.Has(err, problem.NotFound) || counted() != 0 {
			t.Errorf("a retired box is answered with %v, and %d boxes are counted", err, counted())
		}
		err := p.registry.Retire(ctx, audit.Origin{}, p.id, input.Preconditions{})
		expect.That(t, problem.Has(err, problem.NotFound), "retired twice: %v", err)
		p.register(t)
		p.ask(t, "1.0.0", "")
		if row := p.row(t); counted() != 1 || row.Offer != nil || row.Running != "1.0.0" {
			t.Errorf("registered again: %d boxes are counted, %+v", counted(), row)
		}
	})
}

// TestPoll_OfARollout_TakesTheURLThatWasPublishedLast republishes a target at another address while a rollout serves
// it, and checks that the release is read once, like the row.
func TestPoll_OfARollout_TakesTheURLThatWasPublishedLast(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		m := &meter{API: client, calls: map[string]int{}}
		db, ctx := dynamo.Open(m, time.Now), admission.Unlimited(t.Context())
		edgeType, id := "t-"+uuid.NewString(), "box-"+uuid.NewString()
		publish := func(channel, version, url string) {
			t.Helper()
			if _, err := publication.NewStore(db).Publish(ctx, audit.Origin{}, release.Publication{EdgeType: edgeType, Channel: channel,
				CurrentVersion: version, ArtifactURL: url, SHA256: "digest of " + version}, input.Preconditions{}); err != nil {
				t.Fatal(err)
			}
		}
		publish("stable", "1.0.0", "https://a.example/1.0.0")
		publish("canary", "2.0.0", "https://dead.example/2.0.0")
		rollouts := rollout.NewStore(db)
		started, err := rollouts.Start(ctx, audit.Origin{}, rollout.Plan{EdgeType: edgeType, Channel: "stable", TargetVersion: "2.0.0"}, idempotency.Claim{})
		for _, percent := range []int{10, 50, 100} {
			if err == nil {
				_, err = rollouts.Move(ctx, audit.Origin{}, started, rollout.Move{StagedPercent: &percent}, input.Preconditions{})
			}
		}
		if err == nil {
			_, err = edge.NewRegistry(db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}).Put(ctx, audit.Origin{}, id, edge.Assignment{EdgeType: edgeType, Channel: "stable", OrganizationID: "acme"}, input.Preconditions{})
		}
		expect.OK(t, err)
		publish("canary", "2.0.0", "https://new.example/2.0.0")
		told := func(source decide.Source) {
			t.Helper()
			polls := polling.NewPolls(db, polling.Settings{PollInterval: time.Minute, ChannelCache: time.Hour, Shards: 1}, nil, time.Now)
			clear(m.calls)
			for range 100 {
				reply, err := polls.Answer(t.Context(), polling.Poll{EdgeID: id, Installed: "2.0.0"})
				got := reply.Manifest
				if err != nil || got.Version != "2.0.0" || got.Source != source || got.ArtifactURL != "https://new.example/2.0.0" || got.SHA256 != "digest of 2.0.0" {
					t.Fatalf("told %+v, %v", got, err)
				}
			}
			if n := m.calls[dynamo.Releases.Name()+" strongly"]; n != 1 || m.calls[dynamo.Channels.Name()+" strongly"] != 1 {
				t.Errorf("100 polls made the reads %v", m.calls)
			}
		}
		told(decide.FromRollout)
		expect.Value(rollouts.Move(ctx, audit.Origin{}, started, rollout.Move{Status: rollout.Halted}, input.Preconditions{}))(t)
		told(decide.FromInstalled)
	})
}

func TestEncode_SameBytesSameTag(t *testing.T) {
	one := polling.Manifest{EdgeID: "box-1", Version: "1.0.0", PollIntervalSeconds: 60}
	_, tag, err := one.Encode("box-1")
	expect.Must(t, err == nil && len(tag) == 24 && tag[0] == '"', "tag %s, %v", tag, err)
	changes := map[string]func(*polling.Manifest){
		"edge id":   func(m *polling.Manifest) { m.EdgeID = "box-2" },
		"edge type": func(m *polling.Manifest) { m.EdgeType = "x" },
		"channel":   func(m *polling.Manifest) { m.Channel = "x" },
		"version":   func(m *polling.Manifest) { m.Version = "1.0.1" },
		"address":   func(m *polling.Manifest) { m.ArtifactURL = "x" },
		"digest":    func(m *polling.Manifest) { m.SHA256 = "x" },
		"source":    func(m *polling.Manifest) { m.Source = decide.FromRollout },
		"rollout":   func(m *polling.Manifest) { m.RolloutID = "x" },
		"installed": func(m *polling.Manifest) { m.Installed = "0.9.0" },
		"interval":  func(m *polling.Manifest) { m.PollIntervalSeconds = 61 },
		"nothing":   func(*polling.Manifest) {},
	}
	for name, change := range changes {
		other := one
		change(&other)
		_, got, _ := other.Encode("box-1")
		expect.That(t, (got == tag) == (name == "nothing"), "%s changed: tag %s, before %s", name, got, tag)
	}
}

func TestSettings_AreReadInSeconds(t *testing.T) {
	t.Setenv("POLL_INTERVAL_SECONDS", "15")
	t.Setenv("FLEET_ISSUERS", "https://a.example")
	r := setting.NewValues(setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.ChannelCacheSeconds, setting.ReportShards, setting.FleetIssuers, setting.DoorURL, setting.DDITenants)
	want := polling.Settings{
		PollInterval: 15 * time.Second, IdlePollInterval: 5 * time.Minute, ChannelCache: 2 * time.Second,
		Shards: 32, Issuers: "https://a.example",
	}
	if s := polling.ReadSettings(r); r.Err() != nil || s != want {
		t.Errorf("got %+v, %v", s, r.Err())
	}
}
