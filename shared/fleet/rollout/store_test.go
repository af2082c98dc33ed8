package rollout_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/fleet/guard"
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

// A fleet is a separate edge type with 1.0.0 on stable and 1.1.0 on canary.
type fleet struct {
	db           *dynamo.DB
	releases     *release.Store
	publications *publication.Store
	rollouts     *rollout.Store
	edgeType     string
	counted      *counting
}

// counting counts the calls that reach the store.
type counting struct {
	dynamo.API
	items []int        // of each transaction
	reads atomic.Int64 // they run in parallel
}

func (c *counting) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.items = append(c.items, len(in.TransactItems))
	return c.API.TransactWriteItems(ctx, in, o...)
}

func (c *counting) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.reads.Add(1)
	return c.API.GetItem(ctx, in, o...)
}

var origin = audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "olga"}, SourceIP: "192.0.2.7", RequestID: "r"}

func (f *fleet) publish(t *testing.T, channel, version, digest string) {
	t.Helper()
	f.publishAt(t, channel, version, digest, "https://a.example/"+version)
}

func (f *fleet) publishAt(t *testing.T, channel, version, digest, url string) {
	t.Helper()
	_, err := f.publications.Publish(admission.Unlimited(t.Context()), origin, release.Publication{EdgeType: f.edgeType, Channel: channel, CurrentVersion: version,
		ArtifactURL: url, SHA256: strings.Repeat(digest, 64)}, input.Preconditions{})
	expect.OK(t, err)
}

func (f *fleet) start(t *testing.T, target string) string {
	t.Helper()
	id, err := f.rollouts.Start(admission.Unlimited(t.Context()), origin, rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: target}, idempotency.Claim{})
	expect.OK(t, err)
	return id
}

func (f *fleet) move(t *testing.T, id string, percent int, status rollout.Status) {
	t.Helper()
	m := rollout.Move{Status: status}
	if percent != 0 {
		m.StagedPercent = &percent
	}
	expect.Value(f.rollouts.Move(admission.Unlimited(t.Context()), origin, id, m, input.Preconditions{}))(t)
}

func (f *fleet) row(t *testing.T) release.ChannelRow {
	t.Helper()
	row := expect.Value(f.releases.Row(t.Context(), f.edgeType, "stable"))(t)
	return row
}

// carries checks that the channel's row and the rollout agree.
func (f *fleet) carries(t *testing.T, id string) {
	t.Helper()
	r := expect.Value(f.rollouts.Get(t.Context(), id))(t)
	row := f.row(t)
	expect.Must(t, row.Rollout != nil, "the row carries no rollout")
	expect.Equal(t, *row.Rollout, r.Carried(), "the row carries")
}

func eachFleet(t *testing.T, test func(t *testing.T, f *fleet)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) { onFleet(t, client, test) })
}

func onFleet(t *testing.T, client *dynamodb.Client, test func(t *testing.T, f *fleet)) {
	t.Helper()
	c := &counting{API: client}
	db := dynamo.Open(c, time.Now)
	f := newFleet(db)
	f.counted = c
	f.publish(t, "stable", "1.0.0", "a")
	f.publish(t, "canary", "1.1.0", "b")
	test(t, f)
}

func newFleet(db *dynamo.DB) *fleet {
	return &fleet{db: db, releases: release.NewStore(db), publications: publication.NewStore(db), rollouts: rollout.NewStore(db), edgeType: "t-" + uuid.NewString()}
}

func TestRollout_FromStartToCompletion_RowAndRolloutAgree(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		id := f.start(t, "1.1.0")
		f.carries(t, id)
		for _, percent := range []int{10, 50, 100} {
			f.move(t, id, percent, "")
			f.carries(t, id)
			row := f.row(t)
			expect.Must(t, row.CurrentVersion == "1.0.0" && row.Revision == 1, "a stage changed the channel: %+v", row)
		}
		f.move(t, id, 0, rollout.Completed)
		f.carries(t, id)
		row := f.row(t)
		if row.CurrentVersion != "1.1.0" || row.SHA256 != strings.Repeat("b", 64) || row.ArtifactURL != "https://a.example/1.1.0" || row.Revision != 2 {
			t.Fatalf("after completion the channel is %+v", row)
		}
	})
}

func TestRollout_EndedEarly_LeavesTheChannelAndIsForgottenByAPublication(t *testing.T) {
	for _, end := range []rollout.Status{rollout.Halted, rollout.Completed} {
		eachFleet(t, func(t *testing.T, f *fleet) {
			id := f.start(t, "1.1.0")
			f.move(t, id, 10, "")
			f.move(t, id, 0, end)
			f.carries(t, id)
			if row := f.row(t); row.CurrentVersion != "1.0.0" || row.Revision != 1 {
				t.Fatalf("%s early changed the channel: %+v", end, row)
			}
			f.publish(t, "stable", "1.0.0", "a")
			if row := f.row(t); row.Rollout != nil || row.Revision != 2 {
				t.Fatalf("after the publication the row is %+v", row)
			}
			// Now no row carries it, but its status can still be corrected from halted to completed or back.
			other := map[rollout.Status]rollout.Status{rollout.Halted: rollout.Completed, rollout.Completed: rollout.Halted}[end]
			f.move(t, id, 0, other)
			if row := f.row(t); row.Rollout != nil || row.Revision != 2 || row.CurrentVersion != "1.0.0" {
				t.Fatalf("a rollout that had ended changed the channel: %+v", row)
			}
		})
	}
}

func TestRollout_EndedThenCompletedAt100_DoesNotAdopt(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		id := f.start(t, "1.1.0")
		for _, percent := range []int{10, 50, 100} {
			f.move(t, id, percent, "")
		}
		f.move(t, id, 0, rollout.Halted)
		f.move(t, id, 0, rollout.Completed)
		f.carries(t, id)
		row := f.row(t)
		expect.Must(t, row.CurrentVersion == "1.0.0" && row.Revision == 1, "the channel is %+v", row)
	})
}

// TestMove_TouchesTheSameFewItems counts the reads and writes of each step. They are the same for any fleet, since no
// box is touched.
func TestMove_TouchesTheSameFewItems(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		step := func(what string, wantReads int64, wantItems int, do func()) {
			t.Helper()
			f.counted.reads.Store(0)
			f.counted.items = nil
			do()
			if f.counted.reads.Load() != wantReads || len(f.counted.items) != 1 || f.counted.items[0] != wantItems {
				t.Errorf("%s: %d reads and transactions of %v items; want %d reads and one of %d",
					what, f.counted.reads.Load(), f.counted.items, wantReads, wantItems)
			}
		}
		var id string
		step("start", 3, 3, func() { id = f.start(t, "1.1.0") })
		step("promote", 3, 3, func() { f.move(t, id, 10, "") })
		step("promote", 3, 3, func() { f.move(t, id, 50, "") })
		step("promote and complete", 5, 4, func() { f.move(t, id, 100, rollout.Completed) })
		f.publish(t, "canary", "1.2.0", "d")
		step("start", 3, 3, func() { id = f.start(t, "1.2.0") })
		step("halt", 1, 3, func() { f.move(t, id, 0, rollout.Halted) })
		step("resume", 4, 3, func() { f.move(t, id, 0, rollout.Active) })
		// A publication also reads the channel's last count, for its warning.
		step("publish during a rollout", 5, 4, func() { f.publish(t, "stable", "1.0.0", "a") })
		step("publish", 4, 2, func() { f.publish(t, "stable", "1.1.0", "b") })
	})
}

func TestStart_Refusals(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		start := func(channel, target string) error {
			_, err := f.rollouts.Start(admission.Unlimited(t.Context()), origin, rollout.Plan{EdgeType: f.edgeType, Channel: channel, TargetVersion: target}, idempotency.Claim{})
			return err
		}
		fast := guard.Default()
		fast.Preset = "fast"
		_, err := f.rollouts.Start(admission.Unlimited(t.Context()), origin, rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: "1.0.0", Policy: &fast}, idempotency.Claim{})
		expect.That(t, problem.Has(err, problem.Conflict), "fast, and not urgent: %v", err)
		if err := start("nowhere", "1.1.0"); !problem.Has(err, problem.NotFound) {
			t.Errorf("no channel: %v", err)
		}
		if err := start("stable", "9.9.9"); !problem.Has(err, problem.ReleaseNotPublished) {
			t.Errorf("never published: %v", err)
		}
		first := f.start(t, "1.1.0")
		if err := start("stable", "1.1.0"); !problem.Has(err, problem.RolloutActive) || !strings.Contains(err.Error(), first) {
			t.Errorf("one is active: %v", err)
		}
		f.move(t, first, 0, rollout.Halted)
		if err := start("stable", "1.1.0"); err != nil {
			t.Errorf("after a halt: %v", err)
		}
		_, err = f.rollouts.Get(t.Context(), uuid.NewString())
		expect.That(t, problem.Has(err, problem.NotFound), "no rollout: %v", err)
	})
}
