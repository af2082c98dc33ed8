package dynamo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	_ "wavegate/shared/testing/raced" // few cases under the race detector
)

// entry is an item of the recipes table, which has a sort key and a local index.
type entry struct {
	Partition string `json:"factoryId"`
	Sort      string `json:"methodId"`
	ByProduct string `json:"productMethod"`
	Text      string `json:"text,omitempty"`
}

// fill writes entries into a new partition, one for each sort key.
func fill(t testing.TB, db *dynamo.DB, keys []string, text string) (partition string) {
	t.Helper()
	partition = uuid.NewString()
	for chunk := range slices.Chunk(keys, 25) {
		var parts []dynamo.TransactItem
		for _, k := range chunk {
			parts = append(parts, dynamo.TransactPut(k, dynamo.Methods, nil,
				entry{partition, k, product(k) + "#" + k, text}, dynamo.Absent("methodId")))
		}
		expect.OK(t, db.Commit(admission.Unlimited(context.Background()), parts...))
	}
	return partition
}

func product(k string) string { return string("xyz"[len(k)%3]) }

func sorts(page dynamo.Page[entry]) []string {
	var list []string
	for _, e := range page.Items {
		list = append(list, e.Sort)
	}
	return list
}

func TestList_AnyWindow_IsThatPartOfTheSortedKeys(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		dynamotest.Check(t, func(rt *rapid.T) {
			keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f]{1,4}`), 0, 40, rapid.ID[string]).Draw(rt, "keys")
			s := dynamo.Selection{Table: dynamo.Methods, Partition: fill(t, db, keys, "")}
			want := slices.Sorted(slices.Values(keys))
			switch rapid.SampledFrom([]string{"all", "range", "index"}).Draw(rt, "selection") {
			case "range":
				s.Least, s.Most = rapid.StringMatching(`[a-f]{1,3}`).Draw(rt, "least"), rapid.StringMatching(`[a-f]{1,3}`).Draw(rt, "most")
				want = slices.DeleteFunc(want, func(k string) bool { return k < s.Least || k > s.Most })
			case "index":
				s.Index, s.Least, s.Most = "byProduct", "y#", "y#~"
				want = slices.DeleteFunc(want, func(k string) bool { return product(k) != "y" })
			}
			if s.Descending = rapid.Bool().Draw(rt, "descending"); s.Descending {
				slices.Reverse(want)
			}
			w := dynamo.Span{Skip: rapid.IntRange(0, 45).Draw(rt, "skip"), Limit: rapid.IntRange(1, 45).Draw(rt, "limit")}
			page := expect.Value(dynamo.List[entry](t.Context(), db, s, w))(rt)
			from, to := min(w.Skip, len(want)), min(w.Skip+w.Limit, len(want))
			if got := sorts(page); !slices.Equal(got, want[from:to]) || page.More != (to < len(want)) {
				rt.Fatalf("%+v of %+v is %q, more %t; want %q of %q", w, s, got, page.More, want[from:to], want)
			}
		})
	})
}

func TestList_PagedByTheLastSortKey_GivesEveryItemOnceInOrder(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		dynamotest.Check(t, func(rt *rapid.T) {
			keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c -]{1,4}`), 0, 40, rapid.ID[string]).Draw(rt, "keys")
			s := dynamo.Selection{Table: dynamo.Methods, Partition: fill(t, db, keys, "")}
			want := slices.Sorted(slices.Values(keys))
			if rapid.Bool().Draw(rt, "by index") {
				s.Index, s.Least, s.Most = "byProduct", "y#", "y#~"
				want = slices.DeleteFunc(want, func(k string) bool { return product(k) != "y" })
			} else if s.Descending = rapid.Bool().Draw(rt, "descending"); s.Descending {
				slices.Reverse(want)
			}
			var got []string
			w := dynamo.Span{Limit: rapid.IntRange(1, 9).Draw(rt, "limit"), Skip: rapid.IntRange(0, len(want)).Draw(rt, "skip")}
			want = want[w.Skip:]
			for more := true; more; {
				page := expect.Value(dynamo.List[entry](t.Context(), db, s, w))(rt)
				if more = page.More; more && len(page.Items) != w.Limit {
					rt.Fatalf("a page that is not the last has %d of %d items", len(page.Items), w.Limit)
				}
				got = append(got, sorts(page)...)
				w.Skip, w.After = 0, page.Last
			}
			expect.Must(rt, slices.Equal(got, want), "the walk gives %q, want %q", got, want)
		})
	})
}

func TestList_ItemsOfMoreThanOneMegabyte_AreOnOnePage(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		var keys []string
		for i := range 40 {
			keys = append(keys, fmt.Sprintf("%03d", i))
		}
		s := dynamo.Selection{Table: dynamo.Methods, Partition: fill(t, db, keys, strings.Repeat("x", 100_000))}
		page := expect.Value(dynamo.List[entry](t.Context(), db, s, dynamo.Span{Skip: 13, Limit: 25}))(t)
		got := sorts(page)
		expect.That(t, slices.Equal(got, keys[13:38]) && page.More, "got %q, more %t", got, page.More)
	})
}

type recordingClient struct {
	dynamo.API
	queries []*dynamodb.QueryInput
}

func (a *recordingClient) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	copied := *in
	a.queries = append(a.queries, &copied)
	return a.API.Query(ctx, in, o...)
}

func TestList_ReadsStronglyConsistent_UnlessByAGlobalIndex(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		for _, c := range []struct {
			s    dynamo.Selection
			want bool
		}{
			{dynamo.Selection{Table: dynamo.Machines, Partition: "none"}, true},
			{dynamo.Selection{Table: dynamo.Methods, Partition: "none"}, true},
			{dynamo.Selection{Table: dynamo.Methods, Index: "byProduct", Partition: "none"}, true},
			{dynamo.Selection{Table: dynamo.Factories, Index: "byOrganization", Partition: "none"}, false},
		} {
			a := &recordingClient{API: client}
			page, err := dynamo.List[entry](t.Context(), dynamo.Open(a, time.Now), c.s, dynamo.Span{Limit: 10})
			expect.That(t, err == nil && !page.More && len(page.Items) == 0, "%+v: got %+v, %v", c.s, page, err)
			expect.That(t, len(a.queries) == 1 && aws.ToBool(a.queries[0].ConsistentRead) == c.want,
				"%+v: %d queries, want one that is consistent: %t", c.s, len(a.queries), c.want)
		}
	})
}

func TestList_FirstPage_IsOneRequestAndAnOffsetIsTwo(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		a := &recordingClient{API: client}
		db := dynamo.Open(a, time.Now)
		s := dynamo.Selection{Table: dynamo.Methods, Partition: fill(t, db, []string{"a", "b", "c", "d", "e"}, "")}
		for skip, want := range []int{1, 2, 2, 2, 2, 2} {
			a.queries = nil
			expect.Value(dynamo.List[entry](t.Context(), db, s, dynamo.Span{Skip: skip, Limit: 2}))(t)
			expect.Equal(t, len(a.queries), want, "skipping %d took this many requests", skip)
		}
	})
}

func TestList_CrossedBounds_GiveNothingWithoutAQuery(t *testing.T) {
	a := &recordingClient{}
	page, err := dynamo.List[entry](t.Context(), dynamo.Open(a, time.Now),
		dynamo.Selection{Table: dynamo.Methods, Partition: "p", Least: "b", Most: "a"}, dynamo.Span{Limit: 10})
	if err != nil || len(page.Items) > 0 || page.More || len(a.queries) > 0 {
		t.Errorf("got %+v, %v after %d queries", page, err, len(a.queries))
	}
}
