package paging_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

var kindRule = &input.Text{Pattern: `[a-z]{1,8}`, Says: "1 to 8 lower-case letters"}

func query(c *lambdahttp.Call, path string) paging.Query {
	q := paging.Query{Path: path, Filter: url.Values{}}
	if kind, given := c.Reader.Query("kind", kindRule); given {
		q.Filter.Set("kind", kind)
	}
	return q
}

// An operation lists.
type operation = lambdahttp.Handler

// numbers is a list of the numbers below n, with offset or cursor.
func numbers(n int) operation {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		q, place := query(c, "/api/numbers"), paging.ByOffset(c.Reader)
		if err := c.Reader.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return paging.List(c, q, place, func(w dynamo.Span) (dynamo.Page[int], error) {
			first := w.Skip
			if last, err := strconv.Atoi(w.After); err == nil {
				first = last + 1
			}
			var page dynamo.Page[int]
			for i := first; i < min(n, first+w.Limit); i++ {
				page.Items = append(page.Items, i)
				page.Last = strconv.Itoa(i)
			}
			page.More = first+w.Limit < n
			return page, nil
		})
	}
}

// primes is a list of the primes below n, whose pages look at seven numbers.
func primes(n int) operation {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		q, place := query(c, "/api/primes"), paging.ByOffset(c.Reader)
		if err := c.Reader.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return paging.List(c, q, place, func(w dynamo.Span) (dynamo.Page[int], error) {
			search, first := dynamo.NewSearch[int](dynamo.Open(nil, time.Now), w, 7), 0
			if last, err := strconv.Atoi(w.After); err == nil {
				first = last + 1
			}
			for i := first; i < n; i++ {
				var shown *int
				if big.NewInt(int64(i)).ProbablyPrime(0) {
					shown = &i
				}
				if search.Take([]string{strconv.Itoa(i)}, []*int{shown}, i+1 < n) {
					break
				}
			}
			return search.Page(), nil
		})
	}
}

// ticks is a time series of the numbers from n-1 down to 0, with cursor.
func ticks(path string, n int) operation {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		q, cursor := query(c, path), paging.ByCursor(c.Reader)
		if err := c.Reader.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		position, err := cursor.Position(q, isNumber)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		next := n - 1
		if position != "" {
			last, err := strconv.Atoi(position)
			if err != nil {
				return lambdahttp.Answer{}, err
			}
			next = last - 1
		}
		var page dynamo.Page[int]
		for i := next; i >= 0 && len(page.Items) < cursor.Limit; i-- {
			page.Items = append(page.Items, i)
		}
		page.More = next+1 > cursor.Limit
		return paging.Series(c, q, cursor.Limit, page, strconv.Itoa), nil
	}
}

func isNumber(s string) bool { _, err := strconv.Atoi(s); return err == nil }

// get calls a list with a query string, with a stage's prefix in its path.
func get(t interface{ Fatalf(string, ...any) }, of operation, rawQuery string) events.APIGatewayProxyResponse {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		t.Fatalf("the test's own query: %v", err)
	}
	env := lambdahttp.Env{Now: func() time.Time { return now }, Settings: setting.NewValues(setting.CORSOrigins), Log: slog.New(slog.DiscardHandler), Metrics: io.Discard}
	event := events.APIGatewayProxyRequest{
		Path: "/api/list", HTTPMethod: http.MethodGet, MultiValueQueryStringParameters: values,
		RequestContext: events.APIGatewayProxyRequestContext{RequestID: "req-1", Path: "/prod/api/list"},
	}
	res, err := lambdahttp.New(lambdahttp.Spec{ID: "list"}, env, of)(context.Background(), event)
	if err != nil {
		t.Fatalf("the function failed: %v", err)
	}
	return res
}

type page struct {
	Items  []int
	Limit  int
	Offset *int

	Partial bool
	Next    string
}

// read returns the page in an answer, after it has checked that Link equals next.
func read(t interface{ Fatalf(string, ...any) }, res events.APIGatewayProxyResponse) page {
	var p page
	if res.StatusCode != http.StatusOK {
		t.Fatalf("got %d %s", res.StatusCode, res.Body)
	}
	if err := json.Unmarshal([]byte(res.Body), &p); err != nil {
		t.Fatalf("the body is not a page: %v: %s", err, res.Body)
	}
	link := strings.Join(res.MultiValueHeaders["Link"], ", ")
	if (p.Next != "" || link != "") && link != "<"+p.Next+`>; rel="next"` {
		t.Fatalf("next is %q and Link is %q", p.Next, link)
	}
	return p
}

func cursorOf(t *testing.T, next string) string {
	t.Helper()
	u, err := url.Parse(next)
	expect.Must(t, err == nil && u.Query().Get("cursor") != "", "next is %q", next)
	return u.Query().Get("cursor")
}

func TestOffset_WithoutParameters_GivesTheFirstFiftyAndNext(t *testing.T) {
	p := read(t, get(t, numbers(120), "kind=prime"))
	expect.That(t, len(p.Items) == 50 && p.Limit == 50 && p.Offset != nil && *p.Offset == 0, "the page is %+v", p)
	q := paging.Query{Path: "/api/numbers", Filter: url.Values{"kind": {"prime"}}}
	expect.Equal(t, p.Next, "/prod/api/numbers?cursor="+q.Pack("49")+"&kind=prime&limit=50", "next is")
}

func TestOffset_Next_IsNotEscapedAsHTML(t *testing.T) {
	res := get(t, numbers(3), "limit=1&offset=1")
	next := "/prod/api/numbers?cursor=" + (paging.Query{Path: "/api/numbers"}).Pack("1") + "&limit=1"
	expect.Equal(t, res.Body, `{"items":[1],"limit":1,"offset":1,"next":"`+next+`"}`, "the body is")
}

func TestOffset_EmptyList_IsAnEmptyArray(t *testing.T) {
	res := get(t, numbers(0), "")
	expect.Equal(t, res.Body, `{"items":[],"limit":50,"offset":0}`, "the body is")
}

func TestOffset_BeyondTheLargestOffset_NextGoesOn(t *testing.T) {
	const n = 10_333
	p := read(t, get(t, numbers(n), "kind=prime&limit=100&offset=10000"))
	expect.Must(t, len(p.Items) == 100 && p.Items[0] == 10_000, "the page begins with %v", p.Items)
	want := 10_100
	for pages := 1; p.Next != ""; pages++ {
		expect.Must(t, pages <= 4, "the pages do not end")
		cursorOf(t, p.Next)
		_, rawQuery, _ := strings.Cut(p.Next, "?")
		p = read(t, get(t, numbers(n), rawQuery))
		if p.Offset != nil {
			t.Errorf("a page by cursor has the offset %d", *p.Offset)
		}
		for _, item := range p.Items {
			expect.Must(t, item == want, "got item %d, want %d", item, want)
			want++
		}
	}
	expect.That(t, want == n, "the walk ends before %d of %d", want, n)
}

func TestOffset_PartialPages_AreThatPartOfTheList(t *testing.T) {
	all := []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47}
	for offset := range len(all) + 2 {
		for _, limit := range []int{1, 2, 4, 20} {
			var got []int
			for rawQuery, more := fmt.Sprintf("limit=%d&offset=%d", limit, offset), true; more; {
				p := read(t, get(t, primes(50), rawQuery))
				got = append(got, p.Items...)
				expect.Must(t, p.Partial == (p.Next != "" && len(p.Items) < limit), "the page of %q is %+v", rawQuery, p)
				_, rawQuery, more = strings.Cut(p.Next, "?")
			}
			expect.Equal(t, fmt.Sprint(got), fmt.Sprint(all[min(offset, len(all)):]), "after %d, by %d:", offset, limit)
		}
	}
}

func TestOffset_AnyPage_CanAlsoBeReadByCursor(t *testing.T) {
	q := paging.Query{Path: "/api/numbers", Filter: url.Values{"kind": {"prime"}}}
	p := read(t, get(t, numbers(120), "kind=prime&limit=5&cursor="+q.Pack("41")))
	expect.That(t, len(p.Items) == 5 && p.Items[0] == 42 && p.Limit == 5, "the page is %+v", p)
	refused(t, get(t, numbers(120), "cursor="+q.Pack("41")), problem.InvalidCursor, "cursor")
	refused(t, get(t, numbers(120), "kind=prime&cursor="+q.Pack("4\x00")), problem.InvalidCursor, "cursor")
	refused(t, get(t, numbers(120), "kind=prime&cursor="+q.Pack("\xff")), problem.InvalidCursor, "cursor")
	for _, skip := range []string{"", "0", "-1", "07", "10001", "x", "1\x001"} {
		refused(t, get(t, numbers(120), "kind=prime&cursor="+q.Pack("41\x00"+skip)), problem.InvalidCursor, "cursor")
	}
	refused(t, get(t, numbers(120), "kind=prime&offset=0&cursor="+q.Pack("41")), problem.ValidationFailed, "cursor")
}

// refused checks that a problem has the code and names exactly these parameters.
func refused(t *testing.T, res events.APIGatewayProxyResponse, code problem.Code, parameters ...string) {
	t.Helper()
	var d struct {
		Status int
		Code   problem.Code
		Errors []struct{ Parameter, Code, Detail string }
	}
	expect.Must(t, json.Unmarshal([]byte(res.Body), &d) == nil, "not a problem document: %s", res.Body)
	var named []string
	for _, e := range d.Errors {
		named = append(named, e.Parameter)
	}
	if res.StatusCode != http.StatusBadRequest || d.Status != http.StatusBadRequest || d.Code != code ||
		strings.Join(named, " ") != strings.Join(parameters, " ") {
		t.Errorf("got %d %s, want %s about %v", res.StatusCode, res.Body, code, parameters)
	}
}

func TestLists_BadParameters_EachHaveTheirProblem(t *testing.T) {
	const invalid = problem.ValidationFailed
	byOffset, byCursor := numbers(10), ticks("/api/ticks", 10)
	for _, bad := range []struct {
		list       operation
		query      string
		code       problem.Code
		parameters string
	}{
		{byOffset, "limit=0", invalid, "limit"},
		{byOffset, "limit=-1", invalid, "limit"},
		{byOffset, "limit=101", invalid, "limit"},
		{byOffset, "limit=1.5", invalid, "limit"},
		{byOffset, "limit=abc", invalid, "limit"},
		{byOffset, "limit=", invalid, "limit"},
		{byOffset, "limit=%2B5", invalid, "limit"},
		{byOffset, "limit=05", invalid, "limit"},
		{byOffset, "limit=5&limit=6", invalid, "limit"},
		{byOffset, "limit=99999999999999999999", invalid, "limit"},
		{byOffset, "offset=-1", invalid, "offset"},
		{byOffset, "offset=", invalid, "offset"},
		{byOffset, "offset=1e3", invalid, "offset"},
		{byOffset, "offset=1&offset=1", invalid, "offset"},
		{byOffset, "offset=10001", problem.OffsetTooLarge, "offset"},
		{byOffset, "offset=99999999999999999999", problem.OffsetTooLarge, "offset"},
		{byOffset, "offset=10001&limit=0&colour=red", problem.OffsetTooLarge, "limit colour offset"},
		{byOffset, "offset=5&cursor=AQ", invalid, "cursor"},
		{byOffset, "kind=Prime", invalid, "kind"},
		{byOffset, "Limit=5", invalid, "Limit"},
		{byCursor, "limit=0", invalid, "limit"},
		{byCursor, "offset=5", invalid, "offset"},
		{byCursor, "offset=5&cursor=AQ", invalid, "offset"},
		{byCursor, "cursor=", problem.InvalidCursor, "cursor"},
		{byCursor, "cursor=AQ&cursor=AQ", invalid, "cursor"},
		{byCursor, "cursor=%F0%9F%99%82", problem.InvalidCursor, "cursor"},
		{byCursor, "cursor=" + strings.Repeat("A", 10<<10), problem.InvalidCursor, "cursor"},
	} {
		t.Run(bad.query[:min(len(bad.query), 20)], func(t *testing.T) {
			refused(t, get(t, bad.list, bad.query), bad.code, strings.Fields(bad.parameters)...)
		})
	}
}

func TestCursor_AlteredInAnyBit_IsRefused(t *testing.T) {
	list := ticks("/api/ticks", 100)
	cursor := cursorOf(t, read(t, get(t, list, "limit=7")).Next)
	for i := range cursor {
		for bit := range 8 {
			altered := []byte(cursor)
			altered[i] ^= 1 << bit
			refused(t, get(t, list, "cursor="+url.QueryEscape(string(altered))), problem.InvalidCursor, "cursor")
		}
	}
}

func TestCursor_TruncatedOrLengthened_IsRefused(t *testing.T) {
	list := ticks("/api/ticks", 100)
	cursor := cursorOf(t, read(t, get(t, list, "limit=7")).Next)
	for n := range cursor {
		refused(t, get(t, list, "cursor="+cursor[:n]), problem.InvalidCursor, "cursor")
	}
	for _, more := range []string{"A", "AA", "AAAA", "=", "\n", "\r\n", " "} {
		refused(t, get(t, list, "cursor="+url.QueryEscape(cursor+more)), problem.InvalidCursor, "cursor")
		refused(t, get(t, list, "cursor="+url.QueryEscape(more+cursor)), problem.InvalidCursor, "cursor")
	}
}

func TestCursor_OfAnotherQuery_IsRefused(t *testing.T) {
	list := ticks("/api/factories/munich-1/audit-events", 100)
	cursor := cursorOf(t, read(t, get(t, list, "limit=7&kind=prime")).Next)
	read(t, get(t, list, "limit=9&kind=prime&cursor="+cursor)) // the limit may change on the way
	for name, other := range map[string]struct {
		list  operation
		query string
	}{
		"another factory": {ticks("/api/factories/munich-2/audit-events", 100), "kind=prime"},
		"another list":    {ticks("/api/audit-events", 100), "kind=prime"},
		"another filter":  {list, "kind=odd"},
		"no filter":       {list, ""},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, get(t, other.list, other.query+"&cursor="+cursor), problem.InvalidCursor, "cursor")
		})
	}
}

func TestCursor_ForAnImpossiblePosition_IsRefused(t *testing.T) {
	q := paging.Query{Path: "/api/ticks", Filter: url.Values{}}
	read(t, get(t, ticks("/api/ticks", 100), "cursor="+q.Pack("42")))
	for _, position := range []string{"", "forty-two", "42\x00", "\xff"} {
		refused(t, get(t, ticks("/api/ticks", 100), "cursor="+q.Pack(position)), problem.InvalidCursor, "cursor")
	}
}

func TestCursor_ContainsThePositionButNotThePath(t *testing.T) {
	q := paging.Query{Path: "/api/factories/munich-1/audit-events", Filter: url.Values{"kind": {"prime"}}}
	opened := expect.Value(base64.RawURLEncoding.DecodeString(q.Pack("42")))(t)
	if want := 1 + 16 + len("42"); len(opened) != want || !strings.HasSuffix(string(opened), "42") {
		t.Errorf("the cursor contains %q, want %d bytes that end with the position", opened, want)
	}
}

func TestLists_PagedByNext_GiveEveryItemOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, limit := rapid.IntRange(0, 300).Draw(t, "items"), rapid.IntRange(1, 100).Draw(t, "limit")
		for name, list := range map[string]operation{"offset": numbers(n), "cursor": ticks("/api/ticks", n)} {
			rawQuery, seen, pages := "limit="+strconv.Itoa(limit), 0, 0
			for more := true; more; pages++ {
				p := read(t, get(t, list, rawQuery))
				for _, item := range p.Items {
					if want := seen; name == "offset" && item != want || name == "cursor" && item != n-1-want {
						t.Fatalf("%s: item %d of the walk is %d", name, seen, item)
					}
					seen++
				}
				if p.Next != "" && len(p.Items) != limit {
					t.Fatalf("%s: a page that is not the last has %d of %d items", name, len(p.Items), limit)
				}
				_, rawQuery, more = strings.Cut(p.Next, "?")
			}
			expect.Must(t, seen == n && pages == max(1, (n+limit-1)/limit),
				"%s: %d items seen of %d, on %d pages", name, seen, n, pages)
		}
	})
}
