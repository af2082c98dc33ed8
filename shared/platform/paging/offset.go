// Package paging is the one pager of all lists: it reads limit and offset or cursor, and answers
// with a page and the address of the next.
//
// A page is {"items": […], "limit": 50, "offset": 0, "next": "/api/…"}; next is absent on the last
// page and stands in the header Link with rel="next" as well (RFC 8288). There is no total: counting
// would cost a full read.
//
// Most lists take offset, and cursor in its place, which next hands out beyond the largest offset. What an offset means while others write: an item that is added before the
// page's place shifts all that follow by one, so that the next page repeats an item; one that leaves
// the list there makes the next page leave one out. Few lists lose items: see the List of each part
// of the domain. With a cursor nothing is repeated and nothing that existed throughout is left out. Time
// series take cursor alone.
package paging

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	// MaxOffset bounds what skipping may cost. Where a list goes on behind it, next goes on by cursor, so
	// that each list can be walked to its end.
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

// A Place is the page of a list that a caller asks for: by an offset, or by the cursor of the page before.
type Place struct {
	window dynamo.Window
	cursor Cursor
}

// ByOffset reads limit (1 to 100, default 50) and offset (0 to 10,000, default 0), or a cursor in place of
// offset. An offset beyond makes the request's problem OFFSET_TOO_LARGE.
func ByOffset(in *request.Input) Place {
	cursor := ByCursor(in)
	p := Place{window: dynamo.Window{Limit: cursor.Limit}, cursor: cursor}
	raw, given := in.Query("offset", offsetRule)
	if given && cursor.given {
		in.Fault("cursor", "exclusive", "must not stand beside offset")
	}
	if raw == "" { // not given, or a fault already
		return p
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n > MaxOffset {
		refusal := problem.New(problem.OffsetTooLarge,
			"An offset reads all that it skips and is bound to %d; follow next, or narrow the list by its filters.", MaxOffset)
		refusal.Faults = []problem.Fault{{Parameter: "offset", Code: "range", Detail: "must be " + offsetRule.Says}}
		in.Refuse(refusal)
		return p
	}
	p.window.Skip = n
	return p
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

// List answers with a page of a list that takes offset or cursor. What read returns is one window of it. Within
// reach of an offset, next goes on by offset, and behind that by cursor.
func List[T any](c *lambdahttp.Call, q Query, p Place, read func(dynamo.Window) (dynamo.Page[T], error)) (lambdahttp.Answer, error) {
	behind, err := p.cursor.Position(q, isSortKey)
	if err != nil {
		return lambdahttp.Answer{}, err
	}
	w := p.window
	w.Behind = behind
	page, err := read(w)
	if err != nil {
		return lambdahttp.Answer{}, err
	}
	b := body[T]{Items: page.Items, Limit: w.Limit}
	if !p.cursor.given {
		b.Offset = &w.Skip
	}
	switch {
	case !page.More:
	case p.cursor.given || w.Skip+w.Limit > MaxOffset:
		b.Next = q.href(c, w.Limit, "cursor", q.Pack(page.Last))
	default:
		b.Next = q.href(c, w.Limit, "offset", strconv.Itoa(w.Skip+w.Limit))
	}
	return b.answer(), nil
}

// isSortKey tells whether a position can be the sort key of an item: all are of printable ASCII.
func isSortKey(position string) bool {
	return !strings.ContainsFunc(position, func(c rune) bool { return c < ' ' || c > '~' })
}
