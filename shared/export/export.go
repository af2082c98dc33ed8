// Package export reads everything that the service stores about one organization, page by page.
//
// An export takes no lock. An item that exists from its first page to its last appears exactly once. An item that
// changes meanwhile appears in one of its states. One that is created or removed meanwhile may or may not appear. Most
// lists of an organization are global indexes, which lag slightly.
package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"wavegate/shared/platform/dynamo"
)

// These bound a page, in addition to the number of its lines. A page is one answer of a function, of 6 MB at most. The
// answer is inside a JSON string, which can double its size. Each request to the database takes some milliseconds.
const (
	maxBytes    = 2 << 20
	maxRequests = 200
	// atOnce bounds the items that are read at a time, because items that do not fit are read again.
	atOnce = 25
)

// A Page is a part of an export: JSON Lines, each with a kind and a value. Position is where the next page begins; it
// is empty if this page is the last. A page without a line may have a next one.
type Page struct {
	Lines    []byte
	Position string
}

// An Exporter makes exports.
type Exporter struct{ db *dynamo.DB }

// New makes an exporter.
func New(db *dynamo.DB) *Exporter { return &Exporter{db} }

// Read returns at most limit lines of an organization, from a position on. The caller must have checked the position
// with IsPosition, and that the user may see the organization. A made-up position shows nothing of another
// organization: each list that is read belongs to the organization, or to an item that was read.
func (x *Exporter) Read(ctx context.Context, organizationID, position string, limit int) (Page, error) {
	p := page{db: x.db, organization: organizationID, lines: limit, requests: maxRequests}
	from, _ := marksOf(position)
	all, err := p.walk(ctx, sources, nil, from)
	if err != nil || all {
		return Page{Lines: p.out.Bytes()}, err
	}
	text, err := json.Marshal(p.position)
	return Page{Lines: p.out.Bytes(), Position: string(text)}, err
}

// IsPosition reports whether a text has the form of a position.
func IsPosition(text string) bool {
	_, ok := marksOf(text)
	return ok
}

// A mark is a place in one source: after the item with a sort key, or before the first item if the key is empty. A
// position is a list of marks. The second mark, if there is one, is inside the item of the first, and so on.
type mark struct {
	Source int
	Key    string
}

// MarshalJSON keeps positions short.
func (m mark) MarshalJSON() ([]byte, error) { return json.Marshal([]any{m.Source, m.Key}) }

// UnmarshalJSON is the reverse of MarshalJSON.
func (m *mark) UnmarshalJSON(text []byte) error {
	parts := []any{&m.Source, &m.Key}
	err := json.Unmarshal(text, &parts)
	if err == nil && (len(parts) != 2 || m.Source < 0) {
		err = fmt.Errorf("export: %s is not a mark", text)
	}
	return err
}

func marksOf(position string) (marks []mark, ok bool) {
	err := json.Unmarshal([]byte(position), &marks)
	return marks, err == nil && len(marks) > 0
}

// A page is a Page that is being read.
type page struct {
	db              *dynamo.DB
	organization    string
	out             bytes.Buffer
	lines, requests int    // remaining
	position        []mark // of the next page
}

func (p *page) full() bool { return p.lines <= 0 || p.requests <= 0 }

// walk reads sources from a position on. It reports whether it reached their end.
func (p *page) walk(ctx context.Context, list []source, parent row, from []mark) (all bool, err error) {
	first := 0
	if len(from) > 0 {
		first = from[0].Source
	}
	for i := first; i < len(list); i++ {
		if all, err := p.read(ctx, list[i], mark{Source: i}, parent, from); err != nil || !all {
			return false, err
		}
		from = nil
	}
	return true, nil
}

// read reads one source from a position on. at is the mark of its beginning.
func (p *page) read(ctx context.Context, s source, at mark, parent row, from []mark) (all bool, err error) {
	partition := s.partition(p.organization, parent)
	if partition == "" {
		return true, nil
	}
	list := dynamo.Selection{Table: s.table, Index: s.index, Partition: partition}
	if s.keys != nil {
		list.Least, list.Most = s.keys(parent)
	}
	if len(from) > 0 {
		at.Key = from[0].Key
		if at.Key != "" && s.sort() == "" {
			at.Key = theOnly
		}
	}
	if len(from) > 1 {
		if all, err := p.inside(ctx, s, list, at, from[1:]); err != nil || !all {
			return false, err
		}
	}
	for more := true; more; {
		if at.Key == theOnly {
			return true, nil
		}
		if p.full() {
			p.position = []mark{at}
			return false, nil
		}
		p.requests--
		items, err := dynamo.List[row](ctx, p.db, list, dynamo.Span{Limit: min(p.lines, atOnce), After: at.Key})
		if err != nil {
			return false, err
		}
		more = items.More
		for _, item := range items.Items {
			if !belongs(p.organization, item) {
				at.Key = s.key(item)
				continue
			}
			if written, err := p.write(s.kind, item); err != nil || !written {
				p.position = []mark{at}
				return false, err
			}
			at.Key = s.key(item)
			if all, err := p.walk(ctx, s.inside, item, nil); err != nil || !all {
				p.position = append([]mark{at}, p.position...)
				return false, err
			}
		}
	}
	return true, nil
}

// inside continues inside the item of a mark, which it reads again. If that item is gone, nothing inside it is read.
func (p *page) inside(ctx context.Context, s source, list dynamo.Selection, at mark, from []mark) (all bool, err error) {
	if at.Key == "" {
		return true, nil
	}
	if at.Key != theOnly {
		list.Least, list.Most = at.Key, at.Key
	}
	p.requests--
	items, err := dynamo.List[row](ctx, p.db, list, dynamo.Span{Limit: 1})
	if err != nil || len(items.Items) == 0 || !belongs(p.organization, items.Items[0]) {
		return true, err
	}
	if all, err = p.walk(ctx, s.inside, items.Items[0], from); !all {
		p.position = append([]mark{at}, p.position...)
	}
	return all, err
}

// write adds an item's line to the page, and reports whether there was room for it.
func (p *page) write(kind string, item row) (bool, error) {
	line, err := item.line(kind, p.organization)
	if err != nil {
		return false, err
	}
	if p.lines <= 0 || p.out.Len() > 0 && p.out.Len()+len(line) > maxBytes {
		return false, nil
	}
	p.lines--
	p.out.Write(line)
	return true, nil
}
