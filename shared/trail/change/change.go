// Package change is the one way in which resources change.
//
// A change is decided on what was read, by a pure rule that is handed its time. It is written in one
// transaction with its audit events, on the condition that what was read is still so. If it is not,
// the change is decided again on what is there now: three times at most, then CONFLICT. So there is no
// change without its event, no event without its change, and no change on outdated grounds.
package change

import (
	"context"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A Kind says how the resources of one type are stored and how the audit trail tells of them.
type Kind[T any] struct {
	// Type is the type of the resource in the audit trail, and the name of its write in a transaction.
	Type  string
	Table dynamo.TableID
	// Key is an attribute of the table's key.
	Key string
	// State describes a resource. Its Revision is 0 for the zero T, which stands for no resource.
	State func(T) State
	// Item is what is stored, with the keys of indexes; nil: the resource itself.
	Item func(T) any
	// Shown is what an audit event shows; nil: the resource itself. It answers nil where there is
	// nothing to show, such as for what was removed.
	Shown func(T) any
	// ETag is the entity tag that preconditions are checked against, empty where there is no resource;
	// nil: the revision.
	ETag func(resource T, now time.Time) string
	// Unchanged holds while the stored item is the one that was read; nil: while it has its revision.
	Unchanged func(was T) dynamo.Condition
	// Along is what else is written with a resource; nil: nothing.
	Along func(next T) []dynamo.Part
}

// A State is what every resource says of itself.
type State struct {
	ID        string // in the audit trail
	Revision  int64  // counts changes from 1; 0: there is no such resource
	ChangedAt time.Time
	// Stream is the audit stream of its events; empty: the platform's.
	Stream string
	// Organization is the one that the resource belongs to; empty: none.
	Organization string
}

// A Rule decides what a wish makes of a resource at a time: its next state and the name of the event
// that tells of it, or why it is refused. An empty name means that nothing changes. A rule asks no
// store and no clock.
type Rule[T any] func(was T, at time.Time) (next T, event string, err error)

// Put changes one resource by a rule and tells whether the resource is new. The reads beside run
// together with the read of the resource, and an error of theirs refuses the change. It returns
// PRECONDITION_FAILED, what the rule and the reads return, and CONFLICT when the resource keeps
// changing.
func Put[T any](ctx context.Context, db *dynamo.DB, from audit.Origin, k Kind[T], key dynamo.Key, when request.Preconditions,
	rule Rule[T], beside ...func(context.Context) error) (created bool, err error) {
	err = Make(ctx, db, from, func(set *Set) error {
		var was T
		err := dynamo.Together(ctx, append(beside[:len(beside):len(beside)], func(ctx context.Context) error {
			_, err := db.Get(ctx, k.Table, key, &was)
			return err
		})...)
		if err != nil {
			return err
		}
		tag := k.tag(was, db.Now())
		created = tag == "" // of the last decision: an earlier one may have lost a race
		if err := when.Check(tag); err != nil {
			return err
		}
		next, event, err := rule(was, set.After(k.State(was).ChangedAt))
		if err != nil || event == "" {
			return err
		}
		Record(set, k, was, next, event)
		return nil
	})
	return created, err
}

func (k Kind[T]) tag(v T, now time.Time) string {
	if k.ETag != nil {
		return k.ETag(v, now)
	}
	return request.Revision(k.State(v).Revision)
}

// Make makes changes of several resources at once. The function reads, decides and records what
// changes; it is called again when what it recorded could not be written because something had changed
// meanwhile. A set in which nothing is recorded writes nothing.
func Make(ctx context.Context, db *dynamo.DB, from audit.Origin, decide func(*Set) error) error {
	return dynamo.Decide(func() error {
		set := &Set{db: db, from: from}
		if err := decide(set); err != nil || len(set.parts) == 0 {
			return err
		}
		return db.Commit(ctx, set.parts...)
	})
}

// Create makes a resource under a new id, a UUID of version 7, and returns the id. A call with a claim
// that was used before makes nothing and returns the id of the first call. The function decides like
// that of Make and records the new resource first; the reads run beside that of the claim.
func Create(ctx context.Context, db *dynamo.DB, from audit.Origin, claim idempotency.Claim,
	decide func(set *Set, id string) error, reads ...func(context.Context) error) (id string, err error) {
	// One id for all tries: what an earlier try wrote is found by it.
	id = uuid.Must(uuid.NewV7()).String()
	err = dynamo.Decide(func() error {
		var first string
		var repeated bool
		err := dynamo.Together(ctx, append(reads[:len(reads):len(reads)], func(ctx context.Context) (err error) {
			first, repeated, err = claim.First(ctx, db)
			return err
		})...)
		if err != nil {
			return err
		}
		if repeated {
			id = first
			return nil
		}
		set := &Set{db: db, from: from}
		if err := decide(set, id); err != nil {
			return err
		}
		set.With(claim.Parts(id, set.After(time.Time{}))...)
		err = db.Commit(ctx, set.parts...)
		if dynamo.Refused(err, set.first) {
			// Nobody else has this id: an earlier try was written and its answer lost.
			return nil
		}
		return err
	})
	return id, err
}

// A Set is what one transaction is to write.
type Set struct {
	db    *dynamo.DB
	from  audit.Origin
	now   time.Time
	parts []dynamo.Part
	first string // the name of the first recorded resource
}

// After returns the time of a change: now, or just after the resource's last change where the clocks of
// two containers differ. So the events of a resource are in the order of its revisions.
func (s *Set) After(last time.Time) time.Time {
	if s.now.IsZero() {
		s.now = s.db.Now()
	}
	if !s.now.After(last) {
		return last.Add(time.Millisecond)
	}
	return s.now
}

// With adds parts that are no resources of their own.
func (s *Set) With(parts ...dynamo.Part) { s.parts = append(s.parts, parts...) }

// Record adds the change of a resource from was to next, and its audit event. The time of the event is
// that of the change.
func Record[T any](s *Set, k Kind[T], was, next T, event string) {
	before, after := k.State(was), k.State(next)
	var item any = next
	if k.Item != nil {
		item = k.Item(next)
	}
	unchanged := dynamo.AtRevision(k.Key, before.Revision)
	if k.Unchanged != nil {
		unchanged = k.Unchanged(was)
	}
	if s.first == "" {
		s.first = k.Type
	}
	s.With(dynamo.PutPart(k.Type, k.Table, item, unchanged))
	if k.Along != nil {
		s.With(k.Along(next)...)
	}
	s.With(audit.Write(after.Stream, audit.Event{
		EventTime: after.ChangedAt, EventName: event, OrganizationID: after.Organization,
		Actor: s.from.Actor, SourceIP: s.from.SourceIP, RequestID: s.from.RequestID, Grounds: s.from.Grounds,
		Resource: audit.Resource{Type: k.Type, ID: after.ID, Revision: after.Revision},
		Before:   k.shown(was), After: k.shown(next),
	}))
}

func (k Kind[T]) shown(v T) any {
	switch {
	case k.State(v).Revision == 0:
		return nil
	case k.Shown != nil:
		return k.Shown(v)
	}
	return v
}
