package progress_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/progress"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo/dynamotest"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
)

// TestRollout_NothingMoves_TheCensusIsExact plays a rollout box by box, with boxes that join, move and
// retire, and compares each number with what the test itself did.
func TestRollout_NothingMoves_TheCensusIsExact(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			f := newFleet(t, client, rapid.SampledFrom([]report.Shards{1, 4}).Draw(t, "shards"))
			truth := map[string]string{} // box: its stand; "" is not told yet, and "away" is on no count
			id := f.start(t, rapid.SampledFrom(cohort.Stages).Draw(t, "percent"))
			r, err := f.rollouts.Get(f.ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			reached := func(box string) bool {
				return cohort.FirstStage(f.edgeType, "2.0.0", box) <= r.StagedPercent
			}
			for range rapid.IntRange(1, 40).Draw(t, "events") {
				box := fmt.Sprintf("box-%d-%s", rapid.IntRange(0, 9).Draw(t, "box"), f.edgeType)
				stand, known := truth[box]
				if !known || stand == "away" {
					truth[box] = f.joins(t, box, id)
					continue
				}
				switch rapid.SampledFrom([]string{"polls", "updates", "falls back", "fails", "moves", "retires"}).Draw(t, "event") {
				case "polls":
					if stand == "" {
						f.poll(t, box, "1.0.0")
						if reached(box) {
							truth[box] = "offered"
						}
					}
				case "updates":
					if stand == "offered" || stand == "failed" {
						f.poll(t, box, "2.0.0")
						truth[box] = "installed"
					}
				case "falls back":
					if stand == "installed" {
						f.poll(t, box, "1.0.0")
						truth[box] = "reverted"
					}
				case "fails":
					if stand == "offered" {
						f.fails(t, box)
						truth[box] = "failed"
					}
				case "moves":
					f.register(t, box, "canary", "")
					truth[box] = "away"
				case "retires":
					if err := f.registry.Retire(f.ctx, audit.Origin{}, box, request.Preconditions{}); err != nil {
						t.Fatal(err)
					}
					truth[box] = "away"
				}
				if truth[box] == "away" && rapid.Bool().Draw(t, "comes back") {
					truth[box] = f.joins(t, box, id)
				}
			}
			want := progress.NewCensus(r)
			for box, stand := range truth {
				if stand != "away" {
					at := slices.Index(cohort.Stages, cohort.FirstStage(f.edgeType, "2.0.0", box))
					tally(&want.Stages[at].Counts, stand, reached(box))
				}
			}
			if got := f.count(t, id); !slices.Equal(got.Stages, want.Stages) {
				t.Fatalf("counted %+v\nwant    %+v", got.Stages, want.Stages)
			}
		})
	})
}

// joins registers a box on the channel and returns its stand. What a rollout offered it before counts again,
// unless its registration was taken back.
func (f *fleet) joins(t tester, box, rolloutID string) string {
	t.Helper()
	f.register(t, box, f.channel, "")
	row, err := report.NewStore(f.db, 1).Get(f.ctx, box)
	if err != nil {
		t.Fatal(err)
	}
	if row.Offer == nil || row.Offer.RolloutID != rolloutID {
		return ""
	}
	return string(row.Offer.Stand)
}

// TestRollout_BoxesMoveMeanwhile_TheCensusIsWrongByThoseAtMost counts while boxes report, change their
// channel and retire, under throttles.
func TestRollout_BoxesMoveMeanwhile_TheCensusIsWrongByThoseAtMost(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		for seed := range uint64(3) {
			random := rand.New(rand.NewPCG(seed, 0))
			f := newFleet(t, client, 4)
			id := f.start(t, 100)
			const boxes = 60
			name := func(i int) string { return fmt.Sprintf("box-%d-%s", i, f.edgeType) }
			for i := range boxes {
				f.register(t, name(i), f.channel, "")
				if i%2 == 0 {
					f.poll(t, name(i), "1.0.0")
				}
			}
			before := progress.Total(f.count(t, id).Stages)
			f.now = f.now.Add(11 * time.Second)
			f.api.fail = func() error {
				time.Sleep(time.Millisecond) // the store is slow, so that boxes move between its answers
				return nil
			}
			var counting sync.WaitGroup
			begun := make(chan struct{})
			trouble := func(of int) func() bool {
				return func() bool {
					select {
					case <-begun:
						return rand.IntN(of) == 0
					default:
						return false
					}
				}
			}
			f.api.throttled, f.api.lost = trouble(4), trouble(4)
			moved := map[string]bool{}
			var during progress.Progress
			var err error
			counting.Go(func() {
				// What is counted is kept by puts, too: it is asked for until that goes well.
				for try := range 30 {
					if during, err = f.progress.Rollout(f.ctx, id, false, try == 0); err == nil {
						return
					}
				}
			})
			close(begun)
			for range 20 {
				i := random.IntN(boxes)
				moved[name(i)] = true
				switch random.IntN(3) {
				case 0:
					f.register(t, name(i), "canary", "")
				default:
					if e, err := edge.NewStore(f.db).Get(f.ctx, name(i)); err == nil && e.Channel == f.channel {
						f.poll(t, name(i), "2.0.0")
					}
				}
			}
			counting.Wait()
			f.api.fail, f.api.throttled, f.api.lost = nil, nil, nil
			if err != nil {
				t.Fatal(err)
			}
			after := progress.Total(f.count(t, id).Stages)
			got := progress.Total(during.Stages)
			for name, n := range map[string][3]int{
				"expected": {before.Expected, got.Expected, after.Expected}, "not yet polled": {before.NotYetPolled, got.NotYetPolled, after.NotYetPolled},
				"offered": {before.Offered, got.Offered, after.Offered}, "installed": {before.Installed, got.Installed, after.Installed},
			} {
				if low, high := min(n[0], n[2])-len(moved), max(n[0], n[2])+len(moved); n[1] < low || n[1] > high {
					t.Errorf("seed %d: %s went from %d to %d, counted %d while %d boxes moved", seed, name, n[0], n[2], n[1], len(moved))
				}
			}
		}
	})
}
