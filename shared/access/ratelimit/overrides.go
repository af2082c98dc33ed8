package ratelimit

import (
	"context"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
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
		return h.Issuer + " " + h.ID
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

// record is an arrangement as it is kept. One that was taken back is kept as removed, so that no
// revision ever comes twice.
type record struct {
	Subject string `json:"subject"`
	Removed bool   `json:"removed,omitempty"`
	Arrangement
}

func (r record) subject(h Holder) string { return string(h.Kind) + "/" + h.Name() }

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

// before is what the audit event shows.
func (r record) before() any {
	if r.Revision == 0 || r.Removed {
		return nil
	}
	return r.Arrangement
}

// Overrides keeps the limits that support has arranged. What is in force stands in the holder's own
// counters, so that it costs a call nothing and acts on the very next one; who set it and why stands
// in a record of its own and in the audit trail. All of it is written in one transaction.
type Overrides struct{ db *dynamo.DB }

// NewOverrides makes the store.
func NewOverrides(db *dynamo.DB) *Overrides { return &Overrides{db} }

func (s *Overrides) find(ctx context.Context, h Holder) (r record, err error) {
	_, err = s.db.Get(ctx, dynamo.RateOverrides, dynamo.Key{attrSubject: r.subject(h)}, &r)
	return r, err
}

// Get returns what is arranged for a holder, or NOT_FOUND when nothing is or it has expired.
func (s *Overrides) Get(ctx context.Context, h Holder) (Arrangement, error) {
	r, err := s.find(ctx, h)
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
	err = dynamo.Decide(func() error {
		was, err := s.find(ctx, h)
		if err != nil {
			return err
		}
		now := s.db.Now()
		if err := when.Check(was.etag(now)); err != nil {
			return err
		}
		if created = !was.exists(now); !created && was.equal(terms) {
			return nil
		}
		at := audit.NotBefore(now, was.UpdatedAt)
		next := record{Subject: was.subject(h), Arrangement: Arrangement{
			Holder: h, Terms: terms, CreatedAt: at, UpdatedAt: at, Revision: was.Revision + 1}}
		if !created {
			next.CreatedAt = was.CreatedAt
		}
		return s.commit(ctx, from, "RateLimitSet", was, next, next.Arrangement)
	})
	return created, err
}

// Delete takes an arrangement back: the defaults apply again. It returns NOT_FOUND where there is
// none, and PRECONDITION_FAILED.
func (s *Overrides) Delete(ctx context.Context, from audit.Origin, h Holder, when request.Preconditions) error {
	return dynamo.Decide(func() error {
		was, err := s.find(ctx, h)
		if err != nil {
			return err
		}
		now := s.db.Now()
		if err := when.Check(was.etag(now)); err != nil {
			return err
		}
		if !was.exists(now) {
			return problem.Missing()
		}
		next := record{Subject: was.Subject, Removed: true, Arrangement: Arrangement{
			Holder: h, UpdatedAt: audit.NotBefore(now, was.UpdatedAt), Revision: was.Revision + 1}}
		return s.commit(ctx, from, "RateLimitRemoved", was, next, nil)
	})
}

func (s *Overrides) commit(ctx context.Context, from audit.Origin, event string, was, next record, after any) error {
	h, at := next.Holder, next.UpdatedAt
	organization := ""
	if h.Kind == Organizations {
		organization = h.ID
	}
	what := audit.Resource{Type: ResourceType, ID: next.Subject, Revision: next.Revision}
	return s.db.Commit(ctx,
		dynamo.PutPart("rate-limit", dynamo.RateOverrides, next, dynamo.AtRevision(attrSubject, was.Revision)),
		inForce("counter", h.key(), next.Limit, next.ExpiresAt, at),
		inForce("copilot-counter", copilotKey(h.key()), next.CopilotLimit, next.ExpiresAt, at),
		audit.Part(audit.Platform, from, at, event, organization, what, was.before(), after))
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
