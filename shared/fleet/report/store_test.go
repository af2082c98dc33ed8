package report_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A world is a store and its expected contents.
type world struct {
	db     *dynamo.DB
	store  *report.Store
	prefix string
	rows   map[string]report.Row
}

func newWorld(client *dynamodb.Client, shards report.Shards) *world {
	db := dynamo.Open(client, time.Now)
	return &world{db: db, store: report.NewStore(db, shards), prefix: uuid.NewString()[:8], rows: map[string]report.Row{}}
}

func (w *world) register(t fataler, g report.Registration) {
	was := w.rows[g.EdgeID]
	next := was.Registered(g)
	if err := w.db.Commit(admission.Unlimited(context.Background()), w.store.Part(was, next)); err != nil {
		t.Fatal(err)
	}
	w.rows[g.EdgeID] = next
}

// A fataler is a test, rapid's or the standard library's.
type fataler interface{ Fatal(...any) }

func (w *world) play(t *rapid.T, id string, e report.Input) {
	was := w.rows[id]
	next, changed := report.Next(was, e)
	if !changed {
		return
	}
	expect.OK(t, w.store.Save(admission.Unlimited(t.Context()), was, next))
	w.rows[id] = next
}

// entries returns a channel's boxes in the store's index.
func (w *world) entries(t *rapid.T, pair string) map[string]report.IndexEntry {
	got := map[string]report.IndexEntry{}
	for shard := range w.store.Shards() {
		expect.OK(t, w.store.Each(t.Context(), pair, shard, func(e report.IndexEntry) {
			_, twice := got[e.EdgeID]
			expect.Must(t, !twice, "%s is counted twice", e.EdgeID)
			got[e.EdgeID] = e
		}, func(err error) { t.Fatal(err) }))
	}
	return got
}

// TestStore_IndexHoldsEachBoxOnce_WhereItBelongs plays registrations, moves, retirements, polls and reports, and
// compares rows and index with the expected ones.
func TestStore_IndexHoldsEachBoxOnce_WhereItBelongs(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			w := newWorld(client, rapid.SampledFrom([]report.Shards{1, 3, 32}).Draw(t, "shards"))
			channels := []string{w.prefix + "a", w.prefix + "b"}
			for range rapid.IntRange(1, 40).Draw(t, "events") {
				id := fmt.Sprintf("%s-box-%d", w.prefix, rapid.IntRange(0, 5).Draw(t, "box"))
				row, known := w.rows[id]
				if !known || rapid.IntRange(0, 3).Draw(t, "registers") == 0 {
					w.register(t, report.Registration{EdgeID: id, EdgeType: rapid.SampledFrom([]string{"gateway-x", "gateway-x", "gateway-y"}).Draw(t, "type"), Channel: rapid.SampledFrom(channels).Draw(t, "channel"),
						FactoryID:      rapid.SampledFrom([]string{"", "munich-1"}).Draw(t, "factory"),
						OrganizationID: rapid.SampledFrom([]string{"acme", "initech"}).Draw(t, "organization"),
						At:             noon.Add(time.Duration(row.Revision) * time.Second), Retired: known && rapid.IntRange(0, 3).Draw(t, "retires") == 0})
					continue
				}
				w.play(t, id, drawEvent(t))
			}
			for id, want := range w.rows {
				if got, err := w.store.Get(t.Context(), id); err != nil || !report.Same(got, want) {
					t.Fatalf("the row of %s is %+v, %v\nwant %+v", id, got, err, want)
				}
			}
			for _, pair := range []string{"gateway-x/" + channels[0], "gateway-x/" + channels[1], "gateway-y/" + channels[0], "gateway-y/" + channels[1]} {
				want := map[string]report.IndexEntry{}
				for id, row := range w.rows {
					if row.EdgeType+"/"+row.Channel == pair && !row.Retired {
						want[id] = row.Entry()
					}
				}
				got := w.entries(t, pair)
				expect.Must(t, maps.Equal(got, want), "channel %s holds %+v\nwant %+v", pair, got, want)
			}
		})
	})
}

func TestSave_RowChangedMeanwhile_IsRefused(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		w, ctx := newWorld(client, 1), admission.Unlimited(t.Context())
		g := report.Registration{EdgeID: w.prefix, EdgeType: "gateway-x", Channel: w.prefix, At: noon}
		w.register(t, g)
		was := expect.Value(w.store.Get(ctx, g.EdgeID))(t)
		g.Channel += "-other"
		w.register(t, g)
		next, _ := report.Next(was, pollsOld)
		if err := w.store.Save(ctx, was, next); !dynamo.Refused(err, "item") {
			t.Fatalf("a poll's row was written over a move: %v", err)
		}
	})
}

// An answerLost writes an item, but the answer is lost. It runs meanwhile; then the client's second try is refused.
type answerLost struct {
	dynamo.API
	meanwhile func()
}

func (a *answerLost) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := a.API.UpdateItem(ctx, in, o...)
	if meanwhile := a.meanwhile; meanwhile != nil {
		a.meanwhile = nil
		meanwhile()
		return nil, &types.ConditionalCheckFailedException{}
	}
	return out, err
}

func TestObserve_AnswerLost_CountsAnEventOnce(t *testing.T) {
	ctx := admission.Unlimited(t.Context())
	client := dynamotest.Embedded(t)
	w := newWorld(client, 1)
	runs := func(version string) report.Polled {
		return report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 100, Running: version, Subject: "box", At: noon}
	}
	for name, later := range map[string][]string{"nothing else": nil, "the box runs it again": {"2.0.0"}, "and falls back again": {"2.0.0", "1.0.0"}} {
		g := report.Registration{EdgeID: w.prefix + name, EdgeType: "gateway-x", Channel: w.prefix, At: noon}
		w.register(t, g)
		observe := func(version string) {
			expect.Value(w.store.Observe(ctx, g, runs(version)))(t)
		}
		observe("1.0.0")
		observe("2.0.0")
		var want report.Row
		read := func() (row report.Row) {
			row = expect.Value(w.store.Get(ctx, g.EdgeID))(t)
			return row
		}
		lossy := report.NewStore(dynamo.Open(&answerLost{client, func() {
			for _, version := range later {
				observe(version)
			}
			want = read()
		}}, time.Now), 1)
		_, err := lossy.Observe(ctx, g, runs("1.0.0"))
		if known := len(later) == 0; problem.Has(err, problem.Unavailable) == known || known && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := read()
		expect.That(t, report.Same(got, want), "%s: the row is %+v, want %+v", name, got, want)
	}
}

// TestFind_PagesHoldEachBoxOfTheStandOnce walks pages of any size.
func TestFind_PagesHoldEachBoxOfTheStandOnce(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			w := newWorld(client, rapid.SampledFrom([]report.Shards{1, 4}).Draw(t, "shards"))
			q := report.Search{Pair: "gateway-x/" + w.prefix, RolloutID: "r", Version: "2.0.0", State: report.Failed}
			var want []string
			for i := range rapid.IntRange(0, 25).Draw(t, "boxes") {
				id := fmt.Sprintf("%s-box-%02d", w.prefix, i)
				w.register(t, report.Registration{EdgeID: id, EdgeType: "gateway-x", Channel: w.prefix, At: noon})
				p := pollsOld
				if p.RolloutID = rapid.SampledFrom([]string{"r", "r", "r2"}).Draw(t, "rollout"); rapid.IntRange(0, 9).Draw(t, "other stage") == 0 {
					p.Stage = 50
				}
				w.play(t, id, p)
				if rapid.Bool().Draw(t, "fails") {
					w.play(t, id, breaks)
					if p.RolloutID == "r" {
						want = append(want, id)
					}
				}
			}
			var got []string
			limit := rapid.IntRange(1, 30).Draw(t, "limit")
			span := dynamo.Span{Limit: limit, Skip: rapid.IntRange(0, 5).Draw(t, "offset")}
			skipped := min(span.Skip, len(want))
			for {
				page := expect.Value(w.store.Find(t.Context(), q, span))(t)
				for _, row := range page.Items {
					got = append(got, row.EdgeID)
					expect.Must(t, row.Offer.Code == report.CodeInstall, "found %+v", row)
				}
				if !page.More {
					break
				}
				expect.Must(t, len(page.Items) == limit, "a page of %d of %d and more after it", len(page.Items), limit)
				span.After, span.Skip = page.Last, 0
				expect.Must(t, w.store.IsPosition(q, page.Last), "%q is not a position", page.Last)
			}
			slices.Sort(got)
			left := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return slices.Contains(got, id) })
			if all := slices.Sorted(slices.Values(slices.Concat(got, left))); len(left) != skipped || !slices.Equal(all, want) {
				t.Fatalf("found %q after %d, want those of %q", got, skipped, want)
			}
		})
	})
}

func TestIsPosition_OfAnotherSearch_IsNone(t *testing.T) {
	s := report.NewStore(nil, 4)
	q := report.Search{Pair: "gateway-x/stable", RolloutID: "r", Version: "2.0.0", State: report.Failed}
	good := "01#2.0.0#failed#10#00000000#box"
	expect.That(t, s.IsPosition(q, good), "%q is refused", good)
	for _, bad := range []string{"", "01", "04#2.0.0#failed#10#00000000#box", "-1#2.0.0#failed#10#00000000#box", "x#2.0.0#failed#10#00000000#box",
		"01#2.0.0#working#10#00000000#box", "01#3.0.0#failed#10#00000000#box", "01#2.0.0#failed#10#00000000#", "01#2.0.0#failed#10#box"} {
		expect.That(t, !s.IsPosition(q, bad), "%q is taken", bad)
	}
}
