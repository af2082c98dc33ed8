// Package paging is the one pager of all lists: it reads limit and offset or cursor, and answers
// with a page and the address of the next.
//
// A page is {"items": […], "limit": 50, "offset": 0, "next": "/api/…"}; next is absent on the last
// page and stands in the header Link with rel="next" as well (RFC 8288). There is no total: counting
// would cost a full read.
//
// Most lists take offset. What an offset means while others write: an item that is added before the
// page's place shifts all that follow by one, so that the next page repeats an item; one that leaves
// the list there makes the next page leave one out. Few lists lose items: see the List of each part
// of the domain. Time series take cursor, with which nothing is repeated and nothing that existed
// throughout is left out.
package paging

import (
	"net/http"
	"net/url"
	"strconv"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/platform/value"
)

// Bounds of what a caller may ask for, in items.
const (
	MaxLimit     = 100
	DefaultLimit = 50
	// MaxOffset bounds what skipping may cost. Where a list goes on behind it, next still says so,
	// and following it is answered with OFFSET_TOO_LARGE: no list ever ends in silence.
	MaxOffset = 10_000
)

// offsetRule is the form of a whole number; its size is judged after.
var offsetRule = &value.Text{
	Pattern: `0|[1-9][0-9]*`,
	Says:    "a whole number from 0 to " + strconv.Itoa(MaxOffset),
}

func limitOf(in *request.Input) int {
	return in.QueryInteger("limit", 1, MaxLimit, DefaultLimit)
}

// ByOffset reads limit (1 to 100, default 50) and offset (0 to 10,000, default 0). An offset beyond
// makes the request's problem OFFSET_TOO_LARGE.
func ByOffset(in *request.Input) dynamo.Window {
	w := dynamo.Window{Limit: limitOf(in)}
	raw, _ := in.Query("offset", offsetRule)
	if raw == "" { // not given, or a fault already
		return w
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n > MaxOffset {
		p := problem.New(problem.OffsetTooLarge,
			"An offset reads all that it skips and is bound to %d; narrow the list by its filters.", MaxOffset)
		p.Faults = []problem.Fault{{Parameter: "offset", Code: "range", Detail: "must be " + offsetRule.Says}}
		in.Refuse(p)
		return w
	}
	w.Skip = n
	return w
}

// A Query is what a list is asked for: its path, which begins with /api, and the filters that were
// given, as they were understood.
type Query struct {
	Path   string
	Filter url.Values
}

// href is the address of another page of the query.
func (q Query) href(c *lambdahttp.Call, limit int, name, value string) string {
	values := url.Values{}
	for k, v := range q.Filter {
		values[k] = v
	}
	values.Set("limit", strconv.Itoa(limit))
	values.Set(name, value)
	return c.Href(q.Path) + "?" + values.Encode()
}

// body is a page as it is sent.
type body[T any] struct {
	Items  []T    `json:"items"`
	Limit  int    `json:"limit"`
	Offset *int   `json:"offset,omitempty"` // absent where the list takes a cursor
	Next   string `json:"next,omitempty"`
}

func (b body[T]) answer() lambdahttp.Answer {
	if b.Items == nil {
		b.Items = []T{} // an empty list is [], never null
	}
	a := lambdahttp.Answer{Status: http.StatusOK, Body: b, Header: http.Header{}}
	if b.Next != "" {
		a.Header.Set("Link", "<"+b.Next+`>; rel="next"`)
	}
	return a
}

// Offset answers with a page of a list that takes offset.
func Offset[T any](c *lambdahttp.Call, q Query, w dynamo.Window, page dynamo.Page[T]) lambdahttp.Answer {
	b := body[T]{Items: page.Items, Limit: w.Limit, Offset: &w.Skip}
	if page.More {
		b.Next = q.href(c, w.Limit, "offset", strconv.Itoa(w.Skip+w.Limit))
	}
	return b.answer()
}
