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

// List returns at most limit events of a stream, the newest first, that lie behind the position
// after; from the newest on, where that is empty. Whatever the filter, a page comes back full or
// last at the price of the events that it shows and one more: each combination of resource and actor
// has an index.
//
// Walking by Position repeats nothing and leaves nothing out that was there throughout, whatever is
// written meanwhile: events never change and never move. Their order is that of the times that the
// writing containers had, whose clocks may differ by seconds, and no bound is ever taken from a
// reader's clock. So an event can appear behind one that was already read: whoever looks out for new
// events begins a little (say ten seconds) before the newest known one and knows events by their ids.
// The events of one resource are in the order of its revisions on any clock.
//
// A stream without a filter by resource or actor is read as it is. With one, the read goes by a
// global index, and an event shows after a moment, as a rule within a second.
func (l *Log) List(ctx context.Context, stream string, f Filter, after string, limit int) (dynamo.Page[Event], error) {
	page, err := dynamo.List[Event](ctx, l.db, f.selection(stream, after), dynamo.Window{Limit: limit})
	for i, e := range page.Items {
		if e.Actor.Roles == nil { // of the guard; the embedded store keeps no empty list
			page.Items[i].Actor.Roles = []auth.Role{}
		}
	}
	return page, err
}

// Platform is List of what happens on the platform: by a filter with the type Boxes, of the boxes' streams,
// and otherwise of the platform's. With Boxes alone, each of their streams is read for a whole page, side by
// side, so that a page costs about boxShards times as much. The events of one box are all in one stream, but
// for those that were written before boxes had streams of their own, which are in the platform's.
func (l *Log) Platform(ctx context.Context, f Filter, after string, limit int) (dynamo.Page[Event], error) {
	var streams []string
	switch {
	case f.ResourceType != Boxes:
		return l.List(ctx, Platform, f, after, limit)
	case f.ResourceID != "":
		streams = []string{Box(f.ResourceID), Platform}
	default:
		for shard := range uint32(boxShards) {
			streams = append(streams, boxStream(shard))
		}
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

// merged is the page of the events that come first in pages of several streams.
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

// FirstAfter returns the first event of a resource after a time, and whether there is one. It goes by a
// global index, so an event shows after a moment.
func (l *Log) FirstAfter(ctx context.Context, stream, resourceType, id string, t time.Time) (e Event, found bool, err error) {
	page, err := dynamo.List[Event](ctx, l.db, dynamo.Selection{
		Table: dynamo.Audit, Index: "byResource", Partition: key(stream, resourceType, id),
		Least: t.UTC().Truncate(time.Millisecond).Add(time.Millisecond).Format(TimeFormat), Most: "~",
	}, dynamo.Window{Limit: 1})
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
	// A time sorts before every position of that time, and behind all of the times before.
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

// below is a bound that lies under the position and over, or on, every lesser one: all positions
// have the same length, so what is less is so in a character before the last, or in the last.
func below(position string) string {
	last := len(position) - 1
	return position[:last] + string(position[last]-1)
}

var positionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z#[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z`)
})

// IsPosition tells whether s can be a position, whether or not there is an event.
func IsPosition(s string) bool { return positionForm().MatchString(s) }

// Position is the event's place in its stream: its time, then its id. All positions have the same
// length.
func Position(e Event) string { return e.EventTime.UTC().Format(TimeFormat) + "#" + e.EventID }
