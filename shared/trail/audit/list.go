package audit

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"sync"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
)

// A Log reads the trail.
type Log struct{ db *dynamo.DB }

// NewLog makes a log.
func NewLog(db *dynamo.DB) *Log { return &Log{db} }

// List returns at most limit events of a stream, the newest first. It starts after the position
// after, or at the newest event if that is empty. Each combination of resource and actor has an
// index. So with any filter a page is full or the last one, and reading it costs at most one
// event more than it shows.
//
// Reading page by page by Position repeats no event and skips no event that was there from the
// start, even while others write: events never change and never move. They are ordered by the
// times of the containers that wrote them, whose clocks may differ by seconds. So a new event
// can have an older position than one that was already read. A client that polls for new events
// should start about ten seconds before the newest known event, and recognise events by their
// ids. The events of one resource are in the order of its revisions on any clock.
//
// Without a filter by resource or actor, List reads the stream itself. With one, it reads a
// global index, which usually shows an event within a second.
func (l *Log) List(ctx context.Context, stream string, f Filter, after string, limit int) (dynamo.Page[Event], error) {
	page, err := dynamo.List[Event](ctx, l.db, f.selection(stream, after), dynamo.Span{Limit: limit})
	for i, e := range page.Items {
		if e.Actor.Roles == nil { // events of the guard: the embedded store drops an empty list
			page.Items[i].Actor.Roles = []auth.Role{}
		}
	}
	return page, err
}

// Platform lists the events of the platform's stream or, if the filter's type is Boxes, of the
// boxes' streams. A filter by Boxes alone reads a whole page of each of these streams in
// parallel, so it costs about boxShards times as much. All events of one box are in one stream.
func (l *Log) Platform(ctx context.Context, f Filter, after string, limit int) (dynamo.Page[Event], error) {
	switch {
	case f.ResourceType != Boxes:
		return l.List(ctx, Platform, f, after, limit)
	case f.ResourceID != "":
		return l.List(ctx, Box(f.ResourceID), f, after, limit)
	}
	var streams []string
	for shard := range uint32(boxShards) {
		streams = append(streams, boxStream(shard))
	}
	pages := make([]dynamo.Page[Event], len(streams))
	var reads []func(context.Context) error
	for i, stream := range streams {
		reads = append(reads, func(ctx context.Context) (err error) {
			pages[i], err = l.List(ctx, stream, f, after, limit)
			return err
		})
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return dynamo.Page[Event]{}, err
	}
	return merged(pages, limit), nil
}

// merged is the page of the newest events of pages of several streams.
func merged(pages []dynamo.Page[Event], limit int) dynamo.Page[Event] {
	var all dynamo.Page[Event]
	for _, page := range pages {
		all.Items = append(all.Items, page.Items...)
		all.More = all.More || page.More
	}
	slices.SortFunc(all.Items, func(a, b Event) int { return cmp.Compare(Position(b), Position(a)) })
	if len(all.Items) > limit {
		all.Items, all.More = all.Items[:limit], true
	}
	return all
}

// FirstAfter returns the first event of a resource after a time, and whether there is one. It reads a global index, so
// an event appears after a moment.
func (l *Log) FirstAfter(ctx context.Context, stream, resourceType, id string, t time.Time) (e Event, found bool, err error) {
	page, err := dynamo.List[Event](ctx, l.db, dynamo.Selection{
		Table: dynamo.Audit, Index: "byResource", Partition: key(stream, resourceType, id),
		Least: t.UTC().Truncate(time.Millisecond).Add(time.Millisecond).Format(TimeFormat), Most: "~",
	}, dynamo.Span{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return Event{}, false, err
	}
	return page.Items[0], true, nil
}

func (f Filter) selection(stream, after string) dynamo.Selection {
	s := dynamo.Selection{Table: dynamo.Audit, Partition: stream, Descending: true, Least: "0", Most: "~"}
	switch resource, actor := f.ResourceID != "", f.ActorUserID != ""; {
	case resource && actor:
		s.Index = "byResourceAndActor"
		s.Partition = key(stream, f.ResourceType, f.ResourceID, f.ActorIssuer, f.ActorUserID)
	case resource:
		s.Index, s.Partition = "byResource", key(stream, f.ResourceType, f.ResourceID)
	case actor:
		s.Index, s.Partition = "byActor", key(stream, f.ActorIssuer, f.ActorUserID)
	}
	// A time without an id sorts before every position of that time, and after all earlier
	// positions.
	if !f.From.IsZero() {
		s.Least = f.From.Format(TimeFormat)
	}
	if !f.To.IsZero() {
		s.Most = f.To.Format(TimeFormat)
	}
	if after != "" {
		s.Most = min(s.Most, below(after))
	}
	return s
}

// below returns a bound that is less than the position, and greater than or equal to every
// lesser position. All positions have the same length.
func below(position string) string {
	last := len(position) - 1
	return position[:last] + string(position[last]-1)
}

var positionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z#[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z`)
})

// IsPosition reports whether s has the form of a position. There need not be an event.
func IsPosition(s string) bool { return positionForm().MatchString(s) }

// Position is the event's place in its stream: its time, then its id. All positions have the same
// length.
func Position(e Event) string { return e.EventTime.UTC().Format(TimeFormat) + "#" + e.EventID }
