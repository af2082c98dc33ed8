package census_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestRollout_NothingMoves_TheCensusIsExact plays a rollout box by box, with boxes that join, move and
// retire, and compares each number with what the test itself did.
func TestRollout_NothingMoves_TheCensusIsExact(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			f := newFleet(t, client, rapid.SampledFrom([]report.Shards{1, 4}).Draw(t, "shards"))
			truth := map[string]string{}  // box: its state; "" is not told yet, and "away" is not on the channel
			traces := map[string]string{} // box: its state when it left the channel, if it was told
			id := f.start(t, rapid.SampledFrom(cohort.Stages).Draw(t, "percent"))
			r := expect.Value(f.rollouts.Get(f.ctx, id))(t)
			reached := func(box string) bool {
				return cohort.FirstStage(f.edgeType, "2.0.0", box) <= r.StagedPercent
			}
			for range rapid.IntRange(1, 40).Draw(t, "events") {
				box := fmt.Sprintf("box-%d-%s", rapid.IntRange(0, 9).Draw(t, "box"), f.edgeType)
				state, known := truth[box]
				if !known || state == "away" {
					truth[box] = f.joins(t, box, id)
					continue
				}
				switch rapid.SampledFrom([]string{"polls", "updates", "falls back", "fails", "moves", "retires"}).Draw(t, "event") {
				case "polls":
					if state == "" {
						f.poll(t, box, "1.0.0")
						if reached(box) {
							truth[box] = "offered"
						}
					}
				case "updates":
					if state == "offered" || state == "failed" {
						f.poll(t, box, "2.0.0")
						truth[box] = "installed"
					}
				case "falls back":
					if state == "installed" {
						f.poll(t, box, "1.0.0")
						truth[box] = "reverted"
					}
				case "fails":
					if state == "offered" {
						f.fails(t, box)
						truth[box] = "failed"
					}
				case "moves":
					leaves(traces, box, state)
					f.register(t, box, "canary", "")
					truth[box] = "away"
				case "retires":
					leaves(traces, box, state)
					expect.OK(t, f.registry.Retire(f.ctx, audit.Origin{}, box, input.Preconditions{}))
					truth[box] = "away"
				}
				if truth[box] == "away" && rapid.Bool().Draw(t, "comes back") {
					truth[box] = f.joins(t, box, id)
				}
			}
			want := census.NewCensus(r, f.now)
			for box, state := range truth {
				if trace, left := traces[box]; left && (state == "" || state == "away" || bad(trace)) {
					state = trace
				}
				if state != "away" {
					at := slices.Index(cohort.Stages, cohort.FirstStage(f.edgeType, "2.0.0", box))
					tally(&want.Stages[at].Counts, state, reached(box))
				}
			}
			got := f.count(t, id)
			expect.Must(t, slices.Equal(got.Stages, want.Stages), "counted %+v\nwant    %+v", got.Stages, want.Stages)
		})
	})
}

// leaves keeps what a box did on the channel: a failure if there ever was one, or else the last state.
func leaves(traces map[string]string, box, state string) {
	if state != "" && !bad(traces[box]) {
		traces[box] = state
	}
}

func bad(state string) bool { return state == "failed" || state == "reverted" }

// joins registers a box on the channel and returns its state. A rollout's earlier offer to it counts again, unless the
// box was retired.
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
	return string(row.Offer.State)
}
