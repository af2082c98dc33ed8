// Package change is the only way in which resources change.
//
// A change has two steps. First a pure rule decides on it, from what was read and a given time.
// Then one transaction writes the change and its audit events, on the condition that what was
// read has not changed. If it has changed, the rule decides again on the new state, up to three
// times, and after that the answer is CONFLICT; see Retry for the changes that do not give up. So no
// change is without its event, no event is without its change, and no change depends on an outdated
// state.
package change

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A Kind says how the resources of one type are stored and how the audit trail shows them.
type Kind[T any] struct {
	// Type is the type of the resource in the audit trail, and the name of its write in a transaction.
	Type  string
	Table dynamo.TableID
	// Key is the name of an attribute of the table's key.
	Key string
	// State describes a resource. Its Revision is 0 for the zero T, which means that there is no
	// resource.
	State func(T) Stamp
	// Item returns what is stored, with the keys of indexes. If Item is nil, the resource itself
	// is stored.
	Item func(T) any
	// Shown returns what an audit event shows, or nil for a removed resource. If Shown is nil,
	// the event shows the resource itself.
	Shown func(T) any
	// ETag returns the entity tag for preconditions, or an empty string if there is no resource.
	// If ETag is nil, the revision is the tag.
	ETag func(resource T, now time.Time) string
	// Unchanged is the condition that the stored item is the one that was read. If Unchanged is
	// nil, the revision must be the same.
	Unchanged func(was T) dynamo.Condition
	// Leaves is the event that says, in the trail of its former organization, that a resource was given to another one. Such a
	// change has two revisions and two events: the resource ends for the one, and begins for the other.
	Leaves string
	// Along returns what is written together with a resource. If Along is nil, nothing is.
	Along func(next T) []dynamo.TransactItem
}

// A Stamp is what every resource has in common.
type Stamp struct {
	ID        string // in the audit trail
	Revision  int64  // the number of changes, from 1; 0 if there is no such resource
	ChangedAt time.Time
	// Stream is the audit stream of its events. Empty means the platform's stream.
	Stream string
	// Organization is the owner of the resource; empty if it has none. The event that takes it away
	// is still the owner's.
	Organization string
}

// A Rule decides on a change at a given time. It returns the resource's next state and the name
// of the event, or an error if it refuses the change. An empty event means that nothing changes.
// A rule uses no store and no clock.
type Rule[T any] func(was T, at time.Time) (next T, event string, err error)

// Put changes one resource by a rule and reports whether the resource is new. The functions in
// beside run in parallel with the read of the resource, and an error from one of them stops the
// change. Put returns PRECONDITION_FAILED, the errors of the rule and of the reads, and CONFLICT
// if the resource keeps changing.
func Put[T any](ctx context.Context, db *dynamo.DB, from audit.Origin, k Kind[T], key dynamo.Key, when input.Preconditions,
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
		created = tag == "" // from the last try, because an earlier one may have lost a race
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
	return input.Revision(k.State(v).Revision)
}

// Make changes several resources in one transaction. The function reads, decides and records the
// changes. If the write fails because something has changed in the meantime, the function is
// called again. If it records nothing, nothing is written.
func Make(ctx context.Context, db *dynamo.DB, from audit.Origin, decide func(*Set) error) error {
	return dynamo.Decide(ctx, func() error { return once(ctx, db, from, decide, db.Commit) })
}

// Retry is Make for a change that must not lose a race. The function is called again until the
// context ends, and it waits for less time than others do.
func Retry(ctx context.Context, db *dynamo.DB, from audit.Origin, decide func(*Set) error) error {
	return dynamo.Retry(ctx, func() error { return once(ctx, db, from, decide, db.CommitOnce) })
}

// once decides once and commits what the decision records.
func once(ctx context.Context, db *dynamo.DB, from audit.Origin, decide func(*Set) error, commit func(context.Context, ...dynamo.TransactItem) error) error {
	set := &Set{db: db, from: from}
	if err := decide(set); err != nil || len(set.parts) == 0 {
		return err
	}
	return commit(ctx, set.parts...)
}

// Create makes a resource with a new id, a UUID of version 7, and returns the id. If the claim
// was used before, it makes nothing and returns the id of the first call. The function decides
// as in Make and records the new resource first. The reads run in parallel with that of the
// claim.
func Create(ctx context.Context, db *dynamo.DB, from audit.Origin, claim idempotency.Claim,
	decide func(set *Set, id string) error, reads ...func(context.Context) error) (id string, err error) {
	// All tries use one id, so that a later try finds what an earlier one wrote.
	id = uuid.Must(uuid.NewV7()).String()
	err = dynamo.Decide(ctx, func() error {
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
		if refusal := decide(set, id); refusal != nil {
			// The same call, sent twice at the same time, may have succeeded since the claim was read. Then this call
			// was refused because of that call's result.
			if first, repeated, err := claim.First(ctx, db); err == nil && repeated {
				id = first
				return nil
			}
			return refusal
		}
		set.With(claim.Parts(id, set.After(time.Time{}))...)
		err = db.Commit(ctx, set.parts...)
		if dynamo.Refused(err, set.first) {
			// Nobody else has this id. An earlier try was written, but its answer was lost.
			return nil
		}
		return err
	})
	return id, err
}

// A Set collects what one transaction writes.
type Set struct {
	db    *dynamo.DB
	from  audit.Origin
	now   time.Time
	parts []dynamo.TransactItem
	first string // the name of the first recorded resource
}

// After returns the time of a change: now, or just after the resource's last change if the clock
// of this container is behind. So the events of a resource are in the order of its revisions.
func (s *Set) After(last time.Time) time.Time {
	if s.now.IsZero() {
		s.now = s.db.Now()
	}
	if !s.now.After(last) {
		return last.Add(time.Millisecond)
	}
	return s.now
}

// Empty reports whether nothing was recorded yet.
func (s *Set) Empty() bool { return len(s.parts) == 0 }

// With adds parts that are not resources.
func (s *Set) With(parts ...dynamo.TransactItem) { s.parts = append(s.parts, parts...) }

// Record adds the change of a resource from was to next, and its audit event. The event has the
// time of the change.
func Record[T any](s *Set, k Kind[T], was, next T, event string) {
	RecordSalted(s, k, was, next, event, nil)
}

// RecordSalted is Record for a change whose event a chain of hashes covers, with the salts of its
// personal values.
func RecordSalted[T any](s *Set, k Kind[T], was, next T, event string, salts map[string]string) {
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
	if k.tag(was, s.db.Now()) == "" { // made again after its removal, it keeps nothing that it had before
		s.With(dynamo.TransactNew(k.Type, k.Table, item, unchanged))
	} else {
		s.With(dynamo.TransactPut(k.Type, k.Table, was, item, unchanged))
	}
	if k.Along != nil {
		s.With(k.Along(next)...)
	}
	shown := k.shown(was)
	if k.Leaves != "" && before.Organization != "" && after.Organization != "" && before.Organization != after.Organization {
		left := before
		left.Revision, left.ChangedAt = after.Revision-1, after.ChangedAt.Add(-time.Millisecond)
		s.event(k.Type, left, k.Leaves, shown, nil, nil)
		shown = nil
	}
	after.Organization = cmp.Or(after.Organization, before.Organization)
	s.event(k.Type, after, event, shown, k.shown(next), salts)
}

// event adds the event of a change to a resource.
func (s *Set) event(resource string, is Stamp, name string, before, after any, salts map[string]string) {
	s.With(audit.Write(is.Stream, audit.Event{
		EventTime: is.ChangedAt, EventName: name, OrganizationID: is.Organization,
		Actor: s.from.Actor, SourceIP: s.from.SourceIP, RequestID: s.from.RequestID, Grounds: s.from.Grounds,
		Resource: audit.Resource{Type: resource, ID: is.ID, Revision: is.Revision},
		Before:   before, After: after, Salts: salts,
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
