package publication_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A before is a client that calls a function just before the next transaction.
type before struct {
	dynamo.API
	do           func()
	transactions atomic.Int64
}

func (b *before) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	b.transactions.Add(1)
	return b.API.TransactWriteItems(ctx, in, o...)
}

// A fleet is a separate edge type with 1.0.0 on stable and 1.1.0 on canary, and a rollout of 1.1.0 at 10 percent on
// stable.
type fleet struct {
	api          *before
	publications *publication.Store
	releases     *release.Store
	rollouts     *rollout.Store
	log          *audit.Log
	edgeType, id string
}

func eachFleet(t *testing.T, test func(t *testing.T, f *fleet)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		api := &before{API: client}
		db := dynamo.Open(api, time.Now)
		f := &fleet{api: api, edgeType: "t-" + uuid.NewString(), publications: publication.NewStore(db),
			releases: release.NewStore(db), rollouts: rollout.NewStore(db), log: audit.NewLog(db)}
		f.publish(t, "stable", "1.0.0", "")
		f.publish(t, "canary", "1.1.0", "")
		id := expect.Value(f.rollouts.Start(admission.Unlimited(t.Context()), from("start"),
			rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: "1.1.0"}, idempotency.Claim{}))(t)
		f.id = id
		f.move(t, rollout.Move{StagedPercent: new(10)})
		test(t, f)
	})
}

func from(request string) audit.Origin {
	return audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "olga"}, RequestID: request}
}

func (f *fleet) try(t *testing.T, channel, version, ifMatch string) error {
	t.Helper()
	r := httptest.NewRequest("PUT", "/", nil)
	if ifMatch != "" {
		r.Header.Set("If-Match", ifMatch)
	}
	_, err := f.publications.Publish(admission.Unlimited(t.Context()), from("publish"), release.Publication{EdgeType: f.edgeType, Channel: channel,
		CurrentVersion: version, ArtifactURL: "https://a.example/" + version, SHA256: strings.Repeat("a", 64)}, input.Of(r, input.Takes{Conditions: true}).Preconditions())
	return err
}

func (f *fleet) publish(t *testing.T, channel, version, ifMatch string) {
	t.Helper()
	expect.OK(t, f.try(t, channel, version, ifMatch))
}

func (f *fleet) move(t *testing.T, m rollout.Move) {
	t.Helper()
	expect.Value(f.rollouts.Move(admission.Unlimited(t.Context()), from("move"), f.id, m, input.Preconditions{}))(t)
}

func (f *fleet) row(t *testing.T) release.ChannelRow {
	t.Helper()
	row := expect.Value(f.releases.Get(t.Context(), f.edgeType, "stable"))(t)
	return row
}

// ended checks that the rollout was ended by a publication, in one change with one event of the same call.
func (f *fleet) ended(t *testing.T, revision int64) {
	t.Helper()
	r := expect.Value(f.rollouts.Get(t.Context(), f.id))(t)
	if r.Status != rollout.Halted || r.EndedBy != rollout.ByPublication || r.EndedAt == nil || r.Revision != revision {
		t.Fatalf("the rollout is %+v", r)
	}
	for resource, name := range map[audit.Resource]string{
		{Type: "rollout", ID: f.id}:                           "RolloutHalted",
		{Type: "release-channel", ID: f.edgeType + "/stable"}: "ReleasePublished",
	} {
		page, err := f.log.List(t.Context(), audit.Platform, audit.Filter{ResourceType: resource.Type, ResourceID: resource.ID}, "", 100)
		if err != nil || len(page.Items) == 0 {
			t.Fatal(page, err)
		}
		if e := page.Items[0]; e.EventName != name || e.RequestID != "publish" {
			t.Errorf("the last event of %s is %s of the call %s", resource.Type, e.EventName, e.RequestID)
		}
		if n := len(slices.DeleteFunc(page.Items, func(e audit.Event) bool { return e.RequestID != "publish" })); resource.Type == "rollout" && n != 1 {
			t.Errorf("%d events say that the rollout ended", n)
		}
	}
}

func TestPublish_DuringARollout_EndsItInTheSameTransaction(t *testing.T) {
	for name, version := range map[string]string{"another version": "1.0.1", "what the channel has": "1.0.0", "the target": "1.1.0"} {
		t.Run(name, func(t *testing.T) {
			eachFleet(t, func(t *testing.T, f *fleet) {
				f.api.transactions.Store(0)
				f.publish(t, "stable", version, "")
				n := f.api.transactions.Load()
				expect.That(t, n == 1, "%d transactions", n)
				if row := f.row(t); row.CurrentVersion != version || row.Revision != 2 || row.Rollout != nil || len(row.Earlier) > 0 {
					t.Fatalf("the row is %+v", row)
				}
				f.ended(t, 3)
			})
		})
	}
}

func TestPublish_WhileTheRolloutMoves_EndsItAsItThenIs(t *testing.T) {
	for name, c := range map[string]struct {
		move     rollout.Move
		by       rollout.End
		revision int64
	}{
		"promoted":  {rollout.Move{StagedPercent: new(50)}, rollout.ByPublication, 4},
		"halted":    {rollout.Move{Status: rollout.Halted}, "", 3},
		"completed": {rollout.Move{Status: rollout.Completed}, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			eachFleet(t, func(t *testing.T, f *fleet) {
				f.api.do = func() { f.move(t, c.move) }
				f.publish(t, "stable", "1.0.1", "")
				r, err := f.rollouts.Get(t.Context(), f.id)
				if err != nil || r.Status == rollout.Active || r.EndedBy != c.by || r.Revision != c.revision {
					t.Errorf("the rollout is %+v, %v", r, err)
				}
				row := f.row(t)
				expect.That(t, row.CurrentVersion == "1.0.1" && row.Rollout == nil, "the row is %+v", row)
			})
		})
	}
}

func TestPublish_IfMatch_HoldsWhileNothingOfTheChannelMoved(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		tag := f.row(t).ETag()
		f.move(t, rollout.Move{StagedPercent: new(50)})
		if err := f.try(t, "stable", "1.0.1", tag); !problem.Has(err, problem.PreconditionFailed) {
			t.Errorf("after a promotion: %v", err)
		}
		f.publish(t, "stable", "1.0.1", f.row(t).ETag())
		err := f.try(t, "stable", "1.0.2", tag)
		expect.That(t, problem.Has(err, problem.PreconditionFailed), "after a publication: %v", err)
	})
}

// TestPublish_WhatIsThere_IsAPublication: it ends holds, of which the row does not know.
func TestPublish_WhatIsThere_IsAPublication(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		f.publish(t, "stable", "1.0.0", "")
		before := f.row(t).PublishedAt
		f.publish(t, "stable", "1.0.0", "")
		row := f.row(t)
		expect.That(t, row.Revision == 3 && row.PublishedAt.After(before), "the row is %+v", row)
	})
}

func TestPublish_OtherBytesForAVersion_IsRefusedAndEndsNothing(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		_, err := f.publications.Publish(admission.Unlimited(t.Context()), from("publish"), release.Publication{EdgeType: f.edgeType, Channel: "stable",
			CurrentVersion: "1.1.0", ArtifactURL: "https://a.example/1.1.0", SHA256: strings.Repeat("b", 64)}, input.Preconditions{})
		if row := f.row(t); !problem.Has(err, problem.ReleaseImmutable) || row.Rollout == nil || !row.Rollout.Active {
			t.Errorf("%v, the row is %+v", err, row)
		}
	})
}

// TestPublish_AtTheURLThatTheRowHolds_BringsItBack: the release's URL was changed on another channel since.
func TestPublish_AtTheURLThatTheRowHolds_BringsItBack(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		at := func(channel, url string) {
			t.Helper()
			p := release.Publication{EdgeType: f.edgeType, Channel: channel, CurrentVersion: "1.0.0", ArtifactURL: url, SHA256: strings.Repeat("a", 64)}
			_, err := f.publications.Publish(admission.Unlimited(t.Context()), from("publish"), p, input.Preconditions{})
			expect.OK(t, err)
		}
		const old, elsewhere = "https://a.example/1.0.0", "https://b.example/1.0.0"
		at("stable", old)
		at("beta", elsewhere)
		for _, want := range []string{old, elsewhere} {
			at("stable", want)
			known, err := f.releases.Release(t.Context(), f.edgeType, "1.0.0")
			expect.That(t, err == nil && known.ArtifactURL == want,
				"the bytes are at %s, %v, want %s", known.ArtifactURL, err, want)
		}
	})
}
