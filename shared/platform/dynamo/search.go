package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A search looks at MostLooked items at most, and ends after longest.
const (
	MostLooked = 10_000
	longest    = 5 * time.Second
	mostAtOnce = 500
)

// A Search fills a page of a list that has no index: it looks at the items of others, in the list's order, and shows some.
type Search[T any] struct {
	db    *DB
	w     Span
	most  int // how many items it may still look at
	until time.Time
	moved bool // whether it looked at an item
	page  Page[T]
}

// NewSearch begins a page of a list whose positions are what Take gets. The page looks at most items.
func NewSearch[T any](db *DB, w Span, most int) *Search[T] {
	return &Search[T]{db: db, w: w, most: most, until: db.Now().Add(longest), page: Page[T]{Last: w.After}}
}

// Page is what was found. If it has fewer items than it may have, and More is set, Last and Skip say where to look on.
func (s *Search[T]) Page() Page[T] { return s.page }

// Take looks at the next items, by their positions. shown has what the list shows of each, or nil; if it has fewer, the
// others are for the next page. more is set if items follow. It reports whether the page ends here.
func (s *Search[T]) Take(positions []string, shown []*T, more bool) (ends bool) {
	for i, one := range shown {
		switch {
		case one == nil:
		case s.w.Skip > 0:
			s.w.Skip--
		case len(s.page.Items) == s.w.Limit:
			s.page.More = true
			return true
		default:
			s.page.Items = append(s.page.Items, *one)
		}
		s.page.Last = positions[i]
	}
	s.most -= len(shown)
	s.moved = s.moved || len(shown) > 0 // otherwise the next page would begin at the same place
	s.page.More = len(shown) < len(positions) || more && s.moved && (s.most <= 0 || !s.db.Now().Before(s.until))
	s.page.Skip = s.w.Skip
	return s.page.More
}

// Look looks at the items of a selection after a sort key, some at once; 0: as many as the page may need. show returns what
// the list shows of each, or nil, and may do so only for the first ones. An item's position is its sort key after a prefix.
// more is set if the list goes on after the selection. Look reports whether the page ends.
func Look[T, S any](ctx context.Context, s *Search[S], of Selection, after string, atOnce int, prefix string, more bool,
	show func(context.Context, []T) ([]*S, error)) (ends bool, err error) {
	if after != "" && of.Most != "" {
		of.Least, after = max(of.Least, after+"\x00"), "" // as in List
	}
	if of.Least > of.Most {
		return false, nil
	}
	if atOnce == 0 {
		atOnce = min(s.w.Skip+s.w.Limit+1, mostAtOnce)
	}
	in := of.input(after)
	for {
		in.Limit = aws.Int32(int32(max(1, min(atOnce, s.most))))
		out, err := s.db.api.Query(ctx, in)
		if err != nil {
			return false, unavailable(ctx, false, fmt.Errorf("dynamo: query %s: %w", of.Table, err))
		}
		items, positions := make([]T, len(out.Items)), make([]string, len(out.Items))
		for i, item := range out.Items {
			positions[i] = prefix + text(item[of.sort()])
			if err := Decode(of.Table, item, &items[i]); err != nil {
				return false, err
			}
		}
		shown, err := show(ctx, items)
		if err != nil {
			return false, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
		if ends = s.Take(positions, shown, more || in.ExclusiveStartKey != nil); ends || in.ExclusiveStartKey == nil {
			return ends, nil
		}
	}
}
