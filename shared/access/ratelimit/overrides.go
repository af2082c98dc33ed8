package ratelimit

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// A Kind is what a limit is arranged for.
type Kind string

// The kinds, as they stand in paths.
const (
	Users         Kind = "users"
	Organizations Kind = "organizations"
)

// A Holder is who an override is arranged for. The users of two issuers are never the same, so a user
// has an Issuer; an organization has none.
type Holder struct {
	Kind   Kind   `json:"kind"`
	ID     string `json:"id"`
	Issuer string `json:"issuer,omitempty"`
}

// Name identifies the holder among all of its kind.
func (h Holder) Name() string {
	if h.Kind == Users {
		return auth.User(h.Issuer, h.ID)
	}
	return h.ID
}

// key is the holder's count of all calls.
func (h Holder) key() string {
	if h.Kind == Users {
		return userKey(h.Name())
	}
	return organizationKey(h.Name())
}

// Terms are what is arranged. A limit that is nil stays the default.
type Terms struct {
	Limit        *int       `json:"limit,omitempty"`        // requests in any 60 s
	CopilotLimit *int       `json:"copilotLimit,omitempty"` // copilot requests in any 60 s
	ExpiresAt    *time.Time `json:"expiresAt,omitempty"`    // the first instant at which they no longer hold
	Reason       string     `json:"reason,omitempty"`
}

func (t Terms) equal(o Terms) bool {
	same := func(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }
	expire := t.ExpiresAt == o.ExpiresAt || t.ExpiresAt != nil && o.ExpiresAt != nil && t.ExpiresAt.Equal(*o.ExpiresAt)
	return same(t.Limit, o.Limit) && same(t.CopilotLimit, o.CopilotLimit) && expire && t.Reason == o.Reason
}

// An Arrangement is a holder's own limits.
type Arrangement struct {
	Holder
	Terms
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1; it goes on counting when limits are taken back and set again
}

// ResourceType is that of arrangements in the audit trail.
const ResourceType = "rate-limit"

// A record is an arrangement as it is kept. One that was taken back is kept as removed, so that no
// revision ever comes twice.
type record struct {
	Subject string `json:"subject"`
	Removed bool   `json:"removed,omitempty"`
	Arrangement
}

// subject is the holder's key in the table of overrides, and their id in the audit trail.
func (h Holder) subject() string { return string(h.Kind) + "/" + h.Name() }

// exists tells whether there is an arrangement that still holds.
func (r record) exists(now time.Time) bool {
	return r.Revision > 0 && !r.Removed && (r.ExpiresAt == nil || now.Before(*r.ExpiresAt))
}

// etag is empty where there is no arrangement.
func (r record) etag(now time.Time) string {
	if !r.exists(now) {
		return ""
	}
	return request.Revision(r.Revision)
}

// set decides what new terms make of a holder's record: the next record and the event that tells of it;
// no event where nothing changes.
func (r record) set(h Holder, terms Terms, at time.Time) (next record, event string) {
	next = record{Subject: h.subject(), Arrangement: Arrangement{
		Holder: h, Terms: terms, CreatedAt: at, UpdatedAt: at, Revision: r.Revision + 1}}
	if r.exists(at) {
		if r.equal(terms) {
			return r, ""
		}
		next.CreatedAt = r.CreatedAt
	}
	return next, "RateLimitSet"
}

// remove decides what taking an arrangement back makes of its record. It is NOT_FOUND where there is
// none.
func (r record) remove(h Holder, at time.Time) (next record, event string, err error) {
	if !r.exists(at) {
		return r, "", problem.Missing()
	}
	return record{Subject: h.subject(), Removed: true, Arrangement: Arrangement{
		Holder: h, UpdatedAt: at, Revision: r.Revision + 1}}, "RateLimitRemoved", nil
}

// kind tells of records. What is in force stands in the holder's own counters, so that it costs a call
// nothing and acts on the very next one; both are written in one transaction.
var kind = change.Kind[record]{
	Type: ResourceType, Table: dynamo.RateOverrides, Key: attrSubject,
	State: func(r record) change.State {
		s := change.State{ID: r.Subject, Revision: r.Revision, ChangedAt: r.UpdatedAt}
		if r.Kind == Organizations {
			s.Organization = r.Holder.ID
		}
		return s
	},
	Shown: func(r record) any {
		if r.Removed {
			return nil
		}
		return r.Arrangement
	},
	ETag: record.etag,
	Along: func(next record) []dynamo.Part {
		key, at := next.key(), next.UpdatedAt
		return []dynamo.Part{
			inForce("counter", key, next.Limit, next.ExpiresAt, at),
			inForce("copilot-counter", copilotKey(key), next.CopilotLimit, next.ExpiresAt, at),
		}
	},
}

// Overrides keeps the limits that support has arranged: who set them and why.
type Overrides struct{ db *dynamo.DB }

// NewOverrides makes the store.
func NewOverrides(db *dynamo.DB) *Overrides { return &Overrides{db} }

func overrideKey(h Holder) dynamo.Key { return dynamo.Key{attrSubject: h.subject()} }

// Get returns what is arranged for a holder, or NOT_FOUND when nothing is or it has expired.
func (s *Overrides) Get(ctx context.Context, h Holder) (Arrangement, error) {
	var r record
	_, err := s.db.Get(ctx, dynamo.RateOverrides, overrideKey(h), &r)
	if err == nil && !r.exists(s.db.Now()) {
		return Arrangement{}, problem.Missing()
	}
	return r.Arrangement, err
}

// Put arranges limits for a holder in place of any before, and tells whether there were none. It
// returns VALIDATION_FAILED for an expiry that is past, and PRECONDITION_FAILED.
func (s *Overrides) Put(ctx context.Context, from audit.Origin, h Holder, terms Terms, when request.Preconditions) (created bool, err error) {
	if now := s.db.Now(); terms.ExpiresAt != nil && !now.Before(*terms.ExpiresAt) {
		return false, problem.Invalid([]problem.Fault{{Pointer: "/expiresAt", Code: "range", Detail: "must be in the future"}})
	}
	return change.Put(ctx, s.db, from, kind, overrideKey(h), when, func(was record, at time.Time) (record, string, error) {
		next, event := was.set(h, terms, at)
		return next, event, nil
	})
}

// Delete takes an arrangement back: the defaults apply again. It returns NOT_FOUND where there is
// none, and PRECONDITION_FAILED.
func (s *Overrides) Delete(ctx context.Context, from audit.Origin, h Holder, when request.Preconditions) error {
	_, err := change.Put(ctx, s.db, from, kind, overrideKey(h), when, func(was record, at time.Time) (record, string, error) {
		return was.remove(h, at)
	})
	return err
}

// inForce writes an override into the item that counts, or takes it out. An item that is new counts
// nothing yet; one that holds an override is kept from its expiry on for as long as any other.
func inForce(part, key string, limit *int, expires *time.Time, now time.Time) dynamo.Part {
	values := map[string]any{":zero": 0, ":base": int64(slotLog.at(now) - slotLog.window)}
	set := "SET #n = if_not_exists(#n, :zero), #b = if_not_exists(#b, :base), "
	if limit == nil {
		values[":ttl"] = now.Add(idle).Unix()
		set += "#ttl = :ttl REMOVE #lim, #until, #keep"
	} else {
		o := Override{Limit: *limit}
		if expires != nil {
			o.Ends = *expires
		}
		values[":lim"], values[":until"] = o.Limit, until(o)
		values[":keep"] = until(o)/1000 + int64(idle/time.Second)
		set += "#ttl = :keep, #lim = :lim, #until = :until, #keep = :keep"
	}
	return dynamo.UpdatePart(part, dynamo.RateCounters, dynamo.Key{attrSubject: key}, set, values, dynamo.Condition{})
}
