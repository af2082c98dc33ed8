package rollout_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	_ "wavegate/shared/testing/raced" // few cases under the race detector
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// TestList_ByAnyFilterAndLimit_WalkedByOffset_GivesEveryRolloutOnceNewestFirst draws rollouts on two edge types and two
// channels, in all statuses, and compares each combination of filters with a plain loop over the rollouts. All tests
// share the store, so rollouts of other tests are skipped.
func TestList_ByAnyFilterAndLimit_WalkedByOffset_GivesEveryRolloutOnceNewestFirst(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		rollouts, publications := rollout.NewStore(db), publication.NewStore(db)
		mark := uuid.NewString()[:13]
		types, channels := []string{"x-" + mark, "y-" + mark}, []string{"stable-" + mark, "beta-" + mark}
		for _, edgeType := range types {
			for _, channel := range channels {
				publish(t, publications, edgeType, channel)
			}
		}
		var made []string // ids, oldest first
		dynamotest.Check(t, func(t *rapid.T) {
			// Each check adds a few.
			for range rapid.IntRange(0, 2).Draw(t, "more") {
				edgeType, channel := rapid.SampledFrom(types).Draw(t, "type"), rapid.SampledFrom(channels).Draw(t, "channel")
				made = append(made, begin(t, rollouts, edgeType, channel))
			}
			if len(made) > 0 {
				status := rapid.SampledFrom(rollout.Statuses).Draw(t, "status")
				id := rapid.SampledFrom(made).Draw(t, "rollout")
				if status != rollout.Active {
					end(t, rollouts, id, status)
				}
			}
			f := rollout.Filter{
				EdgeType: rapid.SampledFrom([]string{"", types[0], types[1]}).Draw(t, "by type"),
				Channel:  rapid.SampledFrom([]string{"", channels[0], channels[1], "none"}).Draw(t, "by channel"),
				Status:   rapid.SampledFrom(append([]rollout.Status{""}, rollout.Statuses...)).Draw(t, "by status"),
			}
			var want []string
			for _, id := range slices.Backward(made) {
				r := expect.Value(rollouts.Get(context.Background(), id))(t)
				if (f.EdgeType == "" || f.EdgeType == r.EdgeType) && (f.Channel == "" || f.Channel == r.Channel) &&
					(f.Status == "" || f.Status == r.Status) {
					want = append(want, fmt.Sprint(r.ID, r.Status, r.StagedPercent, r.Revision))
				}
			}
			var got []string
			w := dynamo.Span{Limit: rapid.IntRange(1, 30).Draw(t, "limit")}
			for more := true; more; w.Skip += w.Limit {
				page := expect.Value(rollouts.List(context.Background(), f, w))(t)
				if more = page.More; more && len(page.Items) != w.Limit {
					t.Fatalf("a page that is not the last has %d of %d rollouts", len(page.Items), w.Limit)
				}
				for _, r := range page.Items {
					if strings.HasSuffix(r.EdgeType, mark) {
						got = append(got, fmt.Sprint(r.ID, r.Status, r.StagedPercent, r.Revision))
					}
				}
			}
			expect.Must(t, slices.Equal(got, want), "%+v gives %q, want %q", f, got, want)
			if len(made) > 0 {
				eachSince(t, rollouts, types[0], made, rapid.SampledFrom(made).Draw(t, "since"))
			}
		})
	})
}

// eachSince compares the rollouts of a type since the start of one with a plain loop.
func eachSince(t *rapid.T, rollouts *rollout.Store, edgeType string, made []string, first string) {
	since := expect.Value(rollouts.Get(context.Background(), first))(t).StartedAt
	var got, want []string
	for _, id := range slices.Backward(made) {
		if r := expect.Value(rollouts.Get(context.Background(), id))(t); r.EdgeType == edgeType && !r.StartedAt.Before(since) {
			want = append(want, id)
		}
	}
	expect.OK(t, rollouts.EachSince(context.Background(), edgeType, since, func(r rollout.Rollout) { got = append(got, r.ID) }))
	expect.Must(t, slices.Equal(got, want), "since %s: %q, want %q", since, got, want)
}

func publish(t *testing.T, publications *publication.Store, edgeType, channel string) {
	t.Helper()
	expect.Value(publications.Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{
		EdgeType: edgeType, Channel: channel, CurrentVersion: "1.0.0",
		ArtifactURL: "https://artifacts.example/a", SHA256: strings.Repeat("a", 64)}, input.Preconditions{}))(t)
}

// begin starts a rollout, after ending the one that is active on the channel.
func begin(t *rapid.T, rollouts *rollout.Store, edgeType, channel string) string {
	active, err := rollouts.List(context.Background(),
		rollout.Filter{EdgeType: edgeType, Channel: channel, Status: rollout.Active}, dynamo.Span{Limit: 2})
	expect.Must(t, err == nil && len(active.Items) <= 1,
		"%d rollouts are active on one channel, %v", len(active.Items), err)
	for _, r := range active.Items {
		end(t, rollouts, r.ID, rollout.Halted)
	}
	id := expect.Value(rollouts.Start(admission.Unlimited(context.Background()), audit.Origin{},
		rollout.Plan{EdgeType: edgeType, Channel: channel, TargetVersion: "1.0.0"}, idempotency.Claim{}))(t)
	return id
}

func end(t *rapid.T, rollouts *rollout.Store, id string, status rollout.Status) {
	if _, err := rollouts.Move(admission.Unlimited(context.Background()), audit.Origin{}, id, rollout.Move{Status: status}, input.Preconditions{}); err != nil {
		t.Fatal(err)
	}
}
