// Package paging pages all lists. It reads limit and offset or cursor, and answers with a page
// and the link to the next.
//
// A page is {"items": […], "limit": 50, "offset": 0, "next": "/api/…"}. The last page has no
// next. The header Link with rel="next" has the same link (RFC 8288). There is no total, because
// counting would read the whole list.
//
// Most lists take offset or cursor, and beyond the largest offset next uses cursor. Changes
// between two pages affect offsets. If an item is added before the page, the next page repeats
// an item. If an item before the page leaves the list, the next page skips one. The List of each
// package says whether items can leave. With a cursor no item is repeated, and no item is
// skipped that was there from the start. Time series take only cursor.
package paging

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
)

// These bounds limit what a caller may ask for, in items.
const (
	MaxLimit     = 100
	DefaultLimit = 50
	// MaxOffset bounds the cost of skipping. Beyond it next uses a cursor, so that a caller can
	// read each list to its end.
	MaxOffset = 10_000
)

// offsetRule is the form of a whole number. Its size is checked later.
var offsetRule = &input.Text{
	Pattern: `0|[1-9][0-9]*`,
	Says:    "a whole number from 0 to " + strconv.Itoa(MaxOffset),
}

var (
	limitRule  = &input.Integer{Least: 1, Most: MaxLimit}
	numberRule = &input.Integer{Most: MaxOffset} // offsetRule and its size
	anyCursor  = &input.Text{}
)

// Asked is what a request for a page asks for: a list, and where the page starts.
type Asked[L, P any] struct {
	List L
	Page P
}

// With reads which list a request is about, and then the page by ByOffset or ByCursor.
func With[L, P any](list func(*input.Reader) L, page func(*input.Reader) P) func(*input.Reader) Asked[L, P] {
	return func(in *input.Reader) Asked[L, P] { return Asked[L, P]{list(in), page(in)} }
}

// A Place is the start of a page: an offset, or the cursor from the previous page.
type Place struct {
	window dynamo.Span
	cursor Cursor
}

// Skips reports whether the page starts at an offset.
func (p Place) Skips() bool { return p.window.Skip > 0 }

// ByOffset reads limit (1 to 100, default 50) and either offset (0 to 10,000, default 0) or
// cursor. A larger offset gives the problem OFFSET_TOO_LARGE.
func ByOffset(in *input.Reader) Place {
	cursor := ByCursor(in)
	p := Place{window: dynamo.Span{Limit: cursor.Limit}, cursor: cursor}
	raw, given := in.QueryText("offset", numberRule)
	if given {
		if _, code, detail := offsetRule.Apply(raw); code != "" {
			in.Fault("offset", code, detail)
			raw = ""
		}
	}
	if given && cursor.given {
		in.Fault("cursor", "exclusive", "must not be given together with offset")
	}
	if raw == "" { // not given, or already a fault
		return p
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n > MaxOffset {
		refusal := problem.New(problem.OffsetTooLarge,
			"An offset reads all items that it skips, so it is limited to %d. Follow next, or use the list's filters.", MaxOffset)
		refusal.Faults = []problem.Fault{{Parameter: "offset", Code: "range", Detail: "must be " + offsetRule.Says}}
		in.Refuse(refusal)
		return p
	}
	p.window.Skip = n
	return p
}

// A Query is a list's path, which begins with /api, and the filters as they were read.
type Query struct {
	Path   string
	Filter url.Values
	// Cursors is set if a page can have fewer items than its limit, so that only a cursor says where the next begins.
	Cursors bool
	// Of is the organization whose part of the list the caller reads, if neither path nor filter names it.
	Of string
}

// A linker makes paths that the caller can follow; lambdahttp.Call is one.
type linker interface{ Href(path string) string }

func (q Query) href(c linker, limit int, name, value string) string {
	values := url.Values{}
	for k, v := range q.Filter {
		values[k] = v
	}
	values.Set("limit", strconv.Itoa(limit))
	values.Set(name, value)
	return c.Href(q.Path) + "?" + values.Encode()
}

type body[T any] struct {
	Items  []T    `json:"items"`
	Limit  int    `json:"limit"`
	Offset *int   `json:"offset,omitempty"` // missing if the list takes a cursor
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

// List answers with a page of a list that takes offset or cursor. read returns one window of the
// list. Up to the largest offset next uses an offset, and after that a cursor.
func List[T any](c linker, q Query, p Place, read func(dynamo.Span) (dynamo.Page[T], error)) (lambdahttp.Answer, error) {
	behind, err := p.cursor.Position(q, isSortKey)
	if err != nil {
		return lambdahttp.Answer{}, err
	}
	w := p.window
	w.After = behind
	page, err := read(w)
	if err != nil {
		return lambdahttp.Answer{}, err
	}
	b := body[T]{Items: page.Items, Limit: w.Limit}
	if !p.cursor.given && !q.Cursors {
		b.Offset = &w.Skip
	}
	switch {
	case !page.More:
	case p.cursor.given || q.Cursors || w.Skip+w.Limit > MaxOffset:
		b.Next = q.href(c, w.Limit, "cursor", q.Pack(page.Last))
	default:
		b.Next = q.href(c, w.Limit, "offset", strconv.Itoa(w.Skip+w.Limit))
	}
	return b.answer(), nil
}

// isSortKey reports whether a position can be an item's sort key. All sort keys are printable
// ASCII.
func isSortKey(position string) bool {
	return !strings.ContainsFunc(position, func(c rune) bool { return c < ' ' || c > '~' })
}
