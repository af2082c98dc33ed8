package census_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

func TestRollout_CountedAtMostOnceInTenSeconds_WhoeverAsks(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 1)
		id := f.start(t, 100)
		f.register(t, "box-"+f.edgeType, f.channel, "")
		first := f.count(t, id)
		f.poll(t, "box-"+f.edgeType, "1.0.0")
		f.api.queries = 0
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				p, err := f.progress.Rollout(f.ctx, id, false, true)
				expect.That(t, err == nil && p.AsOf.Equal(first.AsOf), "within ten seconds: %+v, %v", p, err)
			})
		}
		group.Wait()
		f.now = f.now.Add(11 * time.Second)
		for range 8 {
			group.Go(func() {
				_, err := f.progress.Rollout(f.ctx, id, false, true)
				expect.That(t, err == nil, "%v", err)
			})
		}
		group.Wait()
		if f.api.queries != 1 {
			t.Errorf("16 callers made it count %d times", f.api.queries)
		}
		p, err := f.progress.Rollout(f.ctx, id, false, false)
		expect.That(t, err == nil && census.Total(p.Stages).Offered == 1, "then: %+v, %v", p, err)
	})
}

// TestRollout_ChannelHasGoneOn_TheLastCensusStays: boxes' actions after a publication say nothing about the rollout
// that it ended.
func TestRollout_ChannelHasGoneOn_TheLastCensusStays(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 1)
		box := "box-" + f.edgeType
		f.register(t, box, f.channel, "")
		id := f.start(t, 100)
		f.poll(t, box, "1.0.0")
		f.move(t, id, rollout.Move{Status: rollout.Halted})
		halted := f.count(t, id)
		expect.Must(t, census.Total(halted.Stages).Offered == 1, "halted: %+v", halted)
		f.fails(t, box) // it was in flight
		if late := f.count(t, id); census.Total(late.Stages).Failed != 1 || late.Failures[report.CodeBoot] != 1 {
			t.Errorf("a failure after the halt: %+v", late)
		}
		f.publish(t, f.channel, "3.0.0")
		f.poll(t, box, "1.0.0")
		kept := f.count(t, id)
		expect.That(t, census.Total(kept.Stages).Failed == 1, "after a publication: %+v", kept)
		f.start(t, 1)
		never := f.start2(t)
		if _, err := f.progress.Rollout(f.ctx, never, false, true); !problem.Has(err, problem.NotFound) {
			t.Errorf("of a rollout that was never counted: %v", err)
		}
		_, err := f.progress.Rollout(f.ctx, uuid.NewString(), false, true)
		expect.That(t, problem.Has(err, problem.NotFound), "of a missing rollout: %v", err)
	})
}

// start2 starts and ends another rollout without a count.
func (f *fleet) start2(t tester) string {
	row, err := f.releases.Row(f.ctx, f.edgeType, f.channel)
	if err != nil {
		t.Fatal(err)
	}
	f.move(t, row.Rollout.ID, rollout.Move{Status: rollout.Halted})
	f.publish(t, f.channel, "4.0.0")
	return row.Rollout.ID
}

func TestByFactory_TheMostTroubledFirst(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 4)
		id := f.start(t, 100)
		for i := range 9 {
			box := fmt.Sprintf("box-%d-%s", i, f.edgeType)
			f.register(t, box, f.channel, []string{"", "munich-1", "oslo-2"}[i%3])
			f.poll(t, box, "1.0.0")
			if i%3 == 2 {
				f.fails(t, box)
			}
		}
		got := expect.Value(f.progress.Rollout(f.ctx, id, true, false))(t)
		want := []census.FactoryCounts{
			{FactoryID: "oslo-2", Counts: guard.Counts{Expected: 3, Failed: 3}},
			{Counts: guard.Counts{Expected: 3, Offered: 3}},
			{FactoryID: "munich-1", Counts: guard.Counts{Expected: 3, Offered: 3}},
		}
		expect.That(t, slices.Equal(got.Factories, want) && got.MoreFactories == 0, "got %+v", got)
	})
}

func TestChannel_WhoRunsWhat(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 4)
		for i, installed := range []string{"1.0.0", "1.0.0", "0.9.0", "", "never"} {
			box := fmt.Sprintf("box-%d-%s", i, f.edgeType)
			f.register(t, box, f.channel, "")
			if installed != "never" {
				f.poll(t, box, installed)
			}
		}
		got := expect.Value(f.progress.Channel(f.ctx, f.edgeType, f.channel, false))(t)
		if got.Boxes != 5 || got.Unknown != 2 || got.OtherVersions != 0 || !slices.Equal(got.Versions, []census.VersionCount{{Version: "1.0.0", Boxes: 2}, {Version: "0.9.0", Boxes: 1}}) {
			t.Errorf("got %+v", got)
		}
		if _, err := f.progress.Channel(f.ctx, f.edgeType, "none", false); !problem.Has(err, problem.NotFound) {
			t.Errorf("of a missing channel: %v", err)
		}
	})
}

// TestRollout_SilentBoxes_AreThoseThatDied uses the limiter's own counts.
func TestRollout_SilentBoxes_AreThoseThatDied(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 1)
		id := f.start(t, 100)
		name := func(i int) string { return fmt.Sprintf("box-%d-%s", i, f.edgeType) }
		for i := range 12 {
			f.register(t, name(i), f.channel, "")
			f.poll(t, name(i), "1.0.0")
		}
		for i := range 6 { // these update; then the first two of them die
			f.poll(t, name(i), "2.0.0")
		}
		f.fails(t, name(11)) // and is switched off
		if s := f.count(t, id).Silent; s.Boxes != 0 || s.Of != 11 {
			t.Errorf("immediately: %+v", s)
		}
		f.now = f.now.Add(10 * time.Minute)
		for i := 2; i < 10; i++ { // box 10 died before it updated
			f.poll(t, name(i), map[bool]string{true: "2.0.0", false: "1.0.0"}[i < 6])
		}
		s := f.count(t, id).Silent
		want := []string{name(0), name(1), name(10)}
		if slices.Sort(s.EdgeIDs); s.Boxes != 3 || s.Sampled != 11 || s.Unknown != 0 || !slices.Equal(s.EdgeIDs, want) {
			t.Errorf("after ten minutes: %+v, want %v", s, want)
		}
	})
}
