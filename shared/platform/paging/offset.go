// Package paging pages all lists. It reads limit and offset or cursor, and answers with a page
// and the link to the next.
//
// A page is {"items": […], "limit": 50, "offset": 0, "next": "/api/…"}. The last page has no
// next. The header Link with rel="next" has the same link (RFC 8288). There is no total, because
// counting would read the whole list.
//
// Lists take offset or cursor, and next has a cursor. With a cursor no item is repeated, and no item
// is skipped that was there from the start. Changes between two pages affect offsets. If an item is
// added before the page, the next page repeats an item. If an item before the page leaves the list,
// the next page skips one. The List of each package says whether items can leave. Time series take
// only cursor.
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
	// MaxOffset bounds the cost of skipping.
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
	// Position checks the position of a cursor; nil: it is a sort key.
	Position func(string) bool
	// Of is the organization whose part of the list the caller reads, if neither path nor filter names it.
	Of string
}

// A linker makes paths that the caller can follow; lambdahttp.Call is one.
type linker interface{ Href(path string) string }

// After is the path of the page after a position.
func (q Query) After(c linker, limit int, position string) string {
	values := url.Values{}
	for k, v := range q.Filter {
		values[k] = v
	}
	values.Set("limit", strconv.Itoa(limit))
	values.Set("cursor", q.Pack(position))
	return c.Href(q.Path) + "?" + values.Encode()
}

type body[T any] struct {
	Items  []T  `json:"items"`
	Limit  int  `json:"limit"`
	Offset *int `json:"offset,omitempty"` // missing if the list takes a cursor
	// Partial is set if the page has fewer items than it may have, and others follow.
	Partial bool   `json:"partial,omitempty"`
	Next    string `json:"next,omitempty"`
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
// list.
func List[T any](c linker, q Query, p Place, read func(dynamo.Span) (dynamo.Page[T], error)) (lambdahttp.Answer, error) {
	position, err := p.cursor.Position(q, q.isPosition)
	if err != nil {
		return lambdahttp.Answer{}, err
	}
	w := p.window
	if p.cursor.given {
		w.After, w.Skip = opened(position)
	}
	page, err := read(w)
	if err != nil {
		return lambdahttp.Answer{}, err
	}
	b := body[T]{Items: page.Items, Limit: w.Limit, Partial: page.More && len(page.Items) < w.Limit}
	if !p.cursor.given {
		b.Offset = &w.Skip
	}
	if page.More {
		b.Next = q.After(c, w.Limit, closed(page.Last, page.Skip))
	}
	return b.answer(), nil
}

// skips is between a position and the number of items after it that were still to be skipped, when a page ended before it
// was full.
const skips = "\x00"

func closed(position string, skip int) string {
	if skip > 0 {
		position += skips + strconv.Itoa(skip)
	}
	return position
}

func opened(position string) (after string, skip int) {
	after, number, _ := strings.Cut(position, skips)
	skip, _ = strconv.Atoi(number) // isPosition has checked it
	return after, skip
}

// isPosition reports whether a position can be one of the list. All sort keys are printable ASCII.
func (q Query) isPosition(position string) bool {
	after, skip := opened(position)
	if skip < 0 || skip > MaxOffset || closed(after, skip) != position {
		return false
	}
	if q.Position != nil {
		return q.Position(after)
	}
	return !strings.ContainsFunc(after, func(c rune) bool { return c < ' ' || c > '~' })
}
