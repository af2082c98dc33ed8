package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// walk reads a stream page by page, and calls between between the pages.
func (w *world) walk(t *rapid.T, stream string, f audit.Filter, limit int, between func()) []audit.Event {
	var all []audit.Event
	after := ""
	for {
		page := expect.Value(w.page(t, stream, f, after, limit))(t)
		if page.More && len(page.Items) != limit {
			t.Fatalf("a page that is not the last has %d of %d events", len(page.Items), limit)
		}
		all = append(all, page.Items...)
		if !page.More {
			return all
		}
		last := audit.Position(page.Items[len(page.Items)-1])
		if after != "" && last >= after {
			t.Fatalf("a page after %s ends with %s", after, last)
		}
		after = last
		between()
	}
}

// page reads a page as an operation does. It uses Platform for every stream that is not a
// factory's.
func (w *world) page(t *rapid.T, stream string, f audit.Filter, after string, limit int) (dynamo.Page[audit.Event], error) {
	switch stream {
	case audit.Factory(w.factory):
		return w.log.List(t.Context(), stream, f, after, limit)
	case boxes:
		f.ResourceType = audit.Boxes
	}
	return w.log.Platform(t.Context(), f, after, limit)
}

func nothing() {}

func (c change) matches(f audit.Filter) bool {
	return (f.ResourceID == "" || c.resource.Type == f.ResourceType && c.resource.ID == f.ResourceID) &&
		(f.ActorUserID == "" || c.actor == f.ActorUserID)
}

// filters are all filters that match something in this world's history.
func (w *world) filters(stream string) []audit.Filter {
	var list []audit.Filter
	seen := map[string]bool{}
	for _, c := range w.changes {
		for _, user := range []string{"", c.actor} {
			for _, resource := range []audit.Resource{{}, c.resource} {
				f := w.window()
				f.ResourceType, f.ResourceID = resource.Type, resource.ID
				if user != "" {
					f.ActorIssuer, f.ActorUserID = "https://people.example", user
				}
				if k := f.Values().Encode(); c.stream == stream && !seen[k] {
					seen[k] = true
					list = append(list, f)
				}
			}
		}
	}
	return list
}

func (w *world) streams() []string { return []string{audit.Platform, audit.Factory(w.factory), boxes} }

func TestTrail_OneClock_EqualsTheChanges_ByAnyFilterAndLimit(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			w := newWorld(client, 0)
			w.run(t, rapid.IntRange(1, 20).Draw(t, "operations"))
			for _, stream := range w.streams() {
				filters := w.filters(stream)
				if len(filters) == 0 {
					continue
				}
				f := rapid.SampledFrom(filters).Draw(t, "filter")
				var want []change
				for _, c := range w.changes {
					if c.stream == stream && c.matches(f) {
						want = append(want, c)
					}
				}
				got := w.walk(t, stream, f, rapid.IntRange(1, 25).Draw(t, "limit"), nothing)
				slices.Reverse(got)
				if len(got) != len(want) {
					t.Fatalf("%s by %s has %d events, want %d", stream, f.Values().Encode(), len(got), len(want))
				}
				for i := range want {
					if !want[i].same(t, got[i]) {
						t.Fatalf("event %d of %s by %s is %+v, want %+v", i, stream, f.Values().Encode(), got[i], want[i])
					}
				}
			}
		})
	})
}

func TestTrail_ClocksDiffer_EventsOfAResourceStillChain(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			w := newWorld(client, 0, 5*time.Second, -5*time.Second)
			w.run(t, rapid.IntRange(1, 20).Draw(t, "operations"))
			chains := map[string][]change{}
			for _, c := range w.changes {
				k := resourceKey(c.resource.Type, c.resource.ID)
				chains[k] = append(chains[k], c)
			}
			for k, chain := range chains {
				f := audit.Filter{ResourceType: chain[0].resource.Type, ResourceID: chain[0].resource.ID}
				got := w.walk(t, chain[0].stream, f, rapid.IntRange(1, 5).Draw(t, "limit"), nothing)
				slices.Reverse(got)
				expect.Must(t, len(got) == len(chain), "%s has %d events, want %d", k, len(got), len(chain))
				for i, e := range got {
					if !chain[i].same(t, e) || e.Resource.Revision != int64(i+1) {
						t.Fatalf("event %d of %s is %+v, want %+v", i, k, e, chain[i])
					}
				}
			}
		})
	})
}

func TestPaging_WhileContainersWrite_RepeatsAndSkipsNoEvent(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			w := newWorld(client, 0, 5*time.Second, -5*time.Second)
			w.run(t, rapid.IntRange(5, 15).Draw(t, "operations before"))
			stream := rapid.SampledFrom(w.streams()).Draw(t, "stream")
			filters := w.filters(stream)
			if len(filters) == 0 {
				return
			}
			f := rapid.SampledFrom(filters).Draw(t, "filter")
			there := w.walk(t, stream, f, 100, nothing)
			seen := w.walk(t, stream, f, rapid.IntRange(1, 3).Draw(t, "limit"), func() {
				w.run(t, rapid.IntRange(0, 3).Draw(t, "operations between"))
			})
			for i := 1; i < len(seen); i++ {
				if audit.Position(seen[i]) >= audit.Position(seen[i-1]) {
					t.Fatalf("event %d, %s, comes after %s", i, audit.Position(seen[i]), audit.Position(seen[i-1]))
				}
			}
			for _, e := range there {
				if !slices.ContainsFunc(seen, func(s audit.Event) bool { return s.EventID == e.EventID }) {
					t.Fatalf("%s was there from the start and was not listed", audit.Position(e))
				}
			}
		})
	})
}

func TestBox_Shard_NeverChanges(t *testing.T) {
	counts := map[string]int{}
	for i := range 16_000 {
		counts[audit.Box(fmt.Sprintf("box-%d", i))]++
	}
	for shard, n := range counts {
		expect.That(t, n >= 800 && n <= 1200, "%s has %d of 16,000 boxes", shard, n)
	}
	expect.That(t, len(counts) == 16, "%d shards, want 16", len(counts))
	// Events never move. If a box with events got another shard, its events would be in two
	// streams.
	for id, want := range map[string]string{"box-0001": "edges/10", "gateway-17.munich": "edges/2", "a": "edges/12"} {
		expect.Equal(t, audit.Box(id), want, "the stream of %s is", id)
	}
}

func TestFrom_IsIncludedAndToIsNot(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			w := newWorld(client, 0)
			w.run(t, rapid.IntRange(2, 8).Draw(t, "operations"))
			all := w.walk(t, audit.Platform, w.window(), 100, nothing)
			if len(all) == 0 {
				return
			}
			// The time of an event, or the millisecond before or after it.
			at := func(name string) time.Time {
				e := rapid.SampledFrom(all).Draw(t, name)
				return e.EventTime.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, name+" off by ms")) * time.Millisecond)
			}
			f := audit.Filter{From: at("from"), To: at("to")}
			got := w.walk(t, audit.Platform, f, rapid.IntRange(1, 10).Draw(t, "limit"), nothing)
			want := slices.DeleteFunc(slices.Clone(all), func(e audit.Event) bool {
				return e.EventTime.Before(f.From) || !e.EventTime.Before(f.To)
			})
			expect.Must(t, slices.EqualFunc(got, want, func(a, b audit.Event) bool { return a.EventID == b.EventID }),
				"from %s to %s has %d events, want %d", f.From, f.To, len(got), len(want))
		})
	})
}

func TestIsPosition_AcceptsOnlyPositions(t *testing.T) {
	good := audit.Position(audit.Event{EventTime: time.Unix(0, 0), EventID: "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"})
	if want := "1970-01-01T00:00:00.000Z#0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"; good != want || !audit.IsPosition(good) {
		t.Errorf("%q is a position: %t", good, audit.IsPosition(good))
	}
	for _, bad := range []string{"", "~", good + "\n", good[1:], strings.ToUpper(good), strings.Replace(good, "#", "/", 1)} {
		expect.That(t, !audit.IsPosition(bad), "%q is accepted as a position", bad)
	}
}
