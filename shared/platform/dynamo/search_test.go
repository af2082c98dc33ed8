package dynamo_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A looked list shows the entries of two partitions whose sort keys begin with some letters. A page looks at few items, and
// the store at its clock takes long for some.
type looked struct {
	db          *dynamo.DB
	partitions  [2]string
	shows       func(key string) bool
	most, some  int
	onlyTheFew  int // how many items show decides at once; 0: all
	descending  bool
	mostOfAPage int // the most items that a page looked at
}

// page reads a page at a position, which is the number of the partition and a sort key.
func (l *looked) page(t testing.TB, w dynamo.Span) dynamo.Page[string] {
	t.Helper()
	search, first, after, seen := dynamo.NewSearch[string](l.db, w, l.most), 0, "", 0
	if w.After != "" {
		first, after = int(w.After[0]-'0'), w.After[2:]
	}
	for i := first; i < len(l.partitions); i, after = i+1, "" {
		of := dynamo.Selection{Table: dynamo.Methods, Partition: l.partitions[i], Descending: l.descending}
		if !l.descending {
			of.Least, of.Most = "a", "z"
		}
		ends, err := dynamo.Look(t.Context(), search, of, after, l.some, fmt.Sprint(i, " "), i == 0, func(_ context.Context, all []entry) (shown []*string, _ error) {
			for _, e := range all {
				if l.onlyTheFew > 0 && len(shown) == l.onlyTheFew {
					break
				}
				seen++
				shown = append(shown, nil)
				if l.shows(e.Sort) {
					shown[len(shown)-1] = &e.Sort
				}
			}
			return shown, nil
		})
		expect.OK(t, err)
		if ends {
			break
		}
	}
	l.mostOfAPage = max(l.mostOfAPage, seen)
	return search.Page()
}

// list is what the list holds now, in its order.
func (l *looked) list(keys []string) (all []string) {
	slices.Sort(keys)
	if l.descending {
		slices.Reverse(keys)
	}
	for range l.partitions {
		for _, k := range keys {
			if l.shows(k) {
				all = append(all, k)
			}
		}
	}
	return all
}

// draw makes a list over the same keys in both partitions.
func draw(t *rapid.T, tb testing.TB, client *dynamodb.Client, keys []string) *looked {
	now, step := time.Unix(0, 0), time.Duration(rapid.SampledFrom([]int{0, 0, 1, 6}).Draw(t, "seconds of a look at the clock"))*time.Second
	l := &looked{
		db:   dynamo.Open(client, func() time.Time { now = now.Add(step); return now }),
		most: rapid.SampledFrom([]int{1, 3, 7, 1000}).Draw(t, "most"), some: rapid.SampledFrom([]int{0, 1, 2, 5, 100}).Draw(t, "some"),
		onlyTheFew: rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "decided"), descending: rapid.Bool().Draw(t, "descending"),
	}
	letters := rapid.SampledFrom([]string{"", "a", "abc", "abcdef"}).Draw(t, "letters")
	l.shows = func(key string) bool { return slices.Contains([]rune(letters), rune(key[0])) }
	for i := range l.partitions {
		l.partitions[i] = fill(tb, l.db, keys, "")
	}
	return l
}

var someKeys = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f]{1,4}`), 0, 40, rapid.ID[string])

func TestSearch_ByAnyOffset_IsThatPartOfTheList(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(rt *rapid.T) {
			keys := someKeys.Draw(rt, "keys")
			l := draw(rt, t, client, keys)
			want, limit := l.list(keys), rapid.IntRange(1, 12).Draw(rt, "limit")
			skip := rapid.IntRange(0, len(want)+2).Draw(rt, "offset")
			var got []string
			page := l.page(t, dynamo.Span{Skip: skip, Limit: limit})
			for len(got) < limit {
				got = append(got, page.Items...)
				if !page.More || len(page.Items) == limit {
					break
				}
				page = l.page(t, dynamo.Span{After: page.Last, Skip: page.Skip, Limit: limit})
			}
			rest := want[min(skip, len(want)):]
			expect.Must(rt, slices.Equal(got, rest[:len(got)]) && len(got) >= min(limit, len(rest)), "after %d, %d of a page are %q, of %q", skip, limit, got, rest)
			expect.Must(rt, l.mostOfAPage <= max(l.most, 1), "a page looks at %d items", l.mostOfAPage)
		})
	})
}

// TestSearch_WhileOthersWrite_MissesNothingThatStays: and repeats nothing.
func TestSearch_WhileOthersWrite_MissesNothingThatStays(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(rt *rapid.T) {
			keys := someKeys.Draw(rt, "keys")
			l := draw(rt, t, client, keys)
			stays, got, pages := slices.Clone(keys), []string(nil), 0
			for span := (dynamo.Span{Limit: rapid.IntRange(1, 12).Draw(rt, "limit")}); ; pages++ {
				page := l.page(t, span)
				if got = append(got, page.Items...); !page.More {
					break
				}
				span.After, span.Skip = page.Last, page.Skip
				if key := rapid.StringMatching(`[a-f]{1,4}`).Draw(rt, "key"); pages < 60 {
					stays = slices.DeleteFunc(stays, func(k string) bool { return k == key })
					l.turn(t, key)
				}
			}
			seen := map[string]int{}
			for _, key := range got {
				seen[key]++
				expect.Must(rt, seen[key] <= len(l.partitions), "%q is listed %d times", key, seen[key])
			}
			for _, key := range l.list(stays) {
				expect.Must(rt, seen[key] == len(l.partitions), "%q was there the whole time, and is listed %d times", key, seen[key])
			}
		})
	})
}

// turn adds a key to both partitions, or removes it.
func (l *looked) turn(t testing.TB, key string) {
	t.Helper()
	ctx := admission.Unlimited(t.Context())
	for _, partition := range l.partitions {
		at := dynamo.Key{"factoryId": partition, "methodId": key}
		var was entry
		found, err := l.db.Get(ctx, dynamo.Methods, at, &was)
		part := dynamo.TransactPut("add", dynamo.Methods, nil, entry{partition, key, product(key) + "#" + key, ""}, dynamo.Absent("methodId"))
		if found {
			part = dynamo.TransactDelete("remove", dynamo.Methods, at, dynamo.Condition{})
		}
		expect.OK(t, err)
		expect.OK(t, l.db.Commit(ctx, part))
	}
}
