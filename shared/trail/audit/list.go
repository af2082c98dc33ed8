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
	"wavegate/shared/platform/problem"
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

// For lists what a caller may see: the events of the platform, or those of the caller's organization. It returns
// NOT_FOUND for a caller of none.
func (l *Log) For(ctx context.Context, caller auth.Principal, f Filter, after string, limit int) (dynamo.Page[Event], error) {
	switch {
	case caller.SeesAll():
		return l.Platform(ctx, f, after, limit)
	case caller.OrganizationID == "":
		return dynamo.Page[Event]{}, problem.Missing()
	}
	return l.Of(ctx, caller.OrganizationID, f, after, limit)
}

// Platform lists the events of the platform's stream or, if the filter's type is Boxes, of the
// boxes' streams. A filter by Boxes alone reads a whole page of each of these streams in
// parallel, so it costs about boxShards times as much. All events of one box are in one stream.
func (l *Log) Platform(ctx context.Context, f Filter, after string, limit int) (dynamo.Page[Event], error) {
	return each(ctx, f, limit, func(ctx context.Context, stream string) (dynamo.Page[Event], error) {
		return l.List(ctx, stream, f, after, limit)
	})
}

// mostSought is how many events of a stream a page looks at, if no index has the filter.
const mostSought = 500

// Of lists what Platform lists of the events of one organization. It reads no others, so neither the answer nor its cost
// depends on them. There is no index for a resource or an actor of an organization: with such a filter, a page looks at the
// newest events of each stream, and can have fewer events than there are.
func (l *Log) Of(ctx context.Context, organizationID string, f Filter, after string, limit int) (dynamo.Page[Event], error) {
	sought := limit
	if f.ResourceID != "" || f.ActorUserID != "" {
		sought = mostSought
	}
	return each(ctx, f, limit, func(ctx context.Context, stream string) (dynamo.Page[Event], error) {
		s := Filter{From: f.From, To: f.To}.selection(stream, after)
		s.Index, s.Partition = "byOrganization", OfOrganization(stream, organizationID)
		page, err := dynamo.List[Event](ctx, l.db, s, dynamo.Span{Limit: sought})
		page.Items = slices.DeleteFunc(page.Items, func(e Event) bool { return !f.includes(e) })
		for i, e := range page.Items {
			page.Items[i] = e.shownTo(organizationID)
		}
		return first(page, limit), err
	})
}

// includes reports whether an event is of the filter's resource and actor.
func (f Filter) includes(e Event) bool {
	return (f.ResourceID == "" || e.Resource.Type == f.ResourceType && e.Resource.ID == f.ResourceID) &&
		(f.ActorUserID == "" || e.Actor.Issuer == f.ActorIssuer && e.Actor.UserID == f.ActorUserID)
}

// shownTo hides the state of a box while it was another organization's.
func (e Event) shownTo(organizationID string) Event {
	for _, state := range []*any{&e.Before, &e.After} {
		fields, _ := (*state).(map[string]any)
		if of, is := fields["organizationId"].(string); is && of != organizationID {
			*state = nil
		}
	}
	return e
}

// each reads the streams of a filter: the platform's, a box's, or those of all boxes in parallel.
func each(ctx context.Context, f Filter, limit int, read func(ctx context.Context, stream string) (dynamo.Page[Event], error)) (dynamo.Page[Event], error) {
	switch {
	case f.ResourceType != Boxes:
		return read(ctx, Platform)
	case f.ResourceID != "":
		return read(ctx, Box(f.ResourceID))
	}
	var streams []string
	for shard := range uint32(boxShards) {
		streams = append(streams, boxStream(shard))
	}
	pages := make([]dynamo.Page[Event], len(streams))
	var reads []func(context.Context) error
	for i, stream := range streams {
		reads = append(reads, func(ctx context.Context) (err error) {
			pages[i], err = read(ctx, stream)
			return err
		})
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return dynamo.Page[Event]{}, err
	}
	return merged(pages, limit), nil
}

// merged is the page of the newest events of pages of several streams, down to where all of them were read.
func merged(pages []dynamo.Page[Event], limit int) dynamo.Page[Event] {
	var all dynamo.Page[Event]
	for _, page := range pages {
		all.Items = append(all.Items, page.Items...)
		if page.More {
			all.More, all.Last = true, max(all.Last, page.Last)
		}
	}
	slices.SortFunc(all.Items, func(a, b Event) int { return cmp.Compare(Position(b), Position(a)) })
	all.Items = slices.DeleteFunc(all.Items, func(e Event) bool { return Position(e) < all.Last })
	return first(all, limit)
}

// first cuts a page to its first events.
func first(page dynamo.Page[Event], limit int) dynamo.Page[Event] {
	if len(page.Items) > limit {
		page.Items, page.More = page.Items[:limit], true
		page.Last = Position(page.Items[limit-1])
	}
	return page
}

// FirstAfter returns the first event of a resource after a time, and whether there is one. It reads a global index, so
// an event appears after a moment.
func (l *Log) FirstAfter(ctx context.Context, stream, resourceType, id string, t time.Time) (e Event, found bool, err error) {
	page, err := dynamo.List[Event](ctx, l.db, dynamo.Selection{
		Table: dynamo.Audit, Index: "byResource", Partition: key(stream, resourceType, id),
		Least: t.UTC().Truncate(time.Millisecond).Add(time.Millisecond).Format(timeFormat), Most: "~",
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
		s.Least = f.From.Format(timeFormat)
	}
	if !f.To.IsZero() {
		s.Most = f.To.Format(timeFormat)
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
func Position(e Event) string { return e.EventTime.UTC().Format(timeFormat) + "#" + e.EventID }
