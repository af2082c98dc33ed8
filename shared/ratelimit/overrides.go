package ratelimit

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// A TargetKind is the kind of a target.
type TargetKind string

// The kinds, as in paths.
const (
	Users         TargetKind = "users"
	Organizations TargetKind = "organizations"
)

// A Target is the user or organization that an override is for. A user has an Issuer, because
// two issuers never share a user. An organization has none.
type Target struct {
	Kind   TargetKind `json:"kind"`
	ID     string     `json:"id"`
	Issuer string     `json:"issuer,omitempty"`
}

// Name identifies the target among all targets of its kind.
func (target Target) Name() string {
	if target.Kind == Users {
		return auth.User(target.Issuer, target.ID)
	}
	return target.ID
}

func (target Target) key() string {
	if target.Kind == Users {
		return userKey(target.Name())
	}
	return organizationKey(target.Name())
}

// An OverrideSpec is what the caller sets. A nil limit keeps the default.
type OverrideSpec struct {
	Limit        *int       `json:"limit,omitempty"`        // requests in any 60 s
	CopilotLimit *int       `json:"copilotLimit,omitempty"` // copilot requests in any 60 s
	BoxLimit     *int       `json:"boxLimit,omitempty"`     // requests of all boxes of an organization in any 60 s
	ExpiresAt    *time.Time `json:"expiresAt,omitempty"`    // the first instant at which the limits no longer apply
	Reason       string     `json:"reason,omitempty"`
}

// An Override is a target's own limits.
type Override struct {
	Target
	OverrideSpec
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1; it continues to count when an override is removed and set again
}

// ResourceType is the type of overrides in the audit trail.
const ResourceType = "rate-limit"

// A record is an override as it is stored. A removed override stays as a record with Removed
// set, so that no revision is used twice.
type record struct {
	Subject string `json:"subject"`
	Removed bool   `json:"removed,omitempty"`
	Override
	dynamo.Unknown
}

// subject is the target's key in the table of overrides, and its id in the audit trail.
func (target Target) subject() string { return string(target.Kind) + "/" + target.Name() }

// OrganizationOverride is the key of the override of an organization.
func OrganizationOverride(id string) string { return Target{Kind: Organizations, ID: id}.subject() }

// exists reports whether there is an override that is in force.
func (r record) exists(now time.Time) bool {
	return r.Revision > 0 && !r.Removed && (r.ExpiresAt == nil || now.Before(*r.ExpiresAt))
}

func (r record) etag(now time.Time) string {
	if !r.exists(now) {
		return ""
	}
	return input.Revision(r.Revision)
}

// set decides the result of a new spec: the next record, and the event to write. The event is
// empty if nothing changes.
func (r record) set(target Target, spec OverrideSpec, at time.Time) (next record, event string) {
	next = record{Subject: target.subject(), Override: Override{
		Target: target, OverrideSpec: spec, CreatedAt: at, UpdatedAt: at, Revision: r.Revision + 1}}
	if r.exists(at) {
		if dynamo.Same(r.OverrideSpec, spec) {
			return r, ""
		}
		next.CreatedAt = r.CreatedAt
	}
	return next, "RateLimitSet"
}

// remove decides the result of removing an override. It is NOT_FOUND if there is none.
func (r record) remove(target Target, at time.Time) (next record, event string, err error) {
	if !r.exists(at) {
		return r, "", problem.Missing()
	}
	return record{Subject: target.subject(), Removed: true, Override: Override{
		Target: target, UpdatedAt: at, Revision: r.Revision + 1}}, "RateLimitRemoved", nil
}

// kind describes records to package change. The limits in force are also stored in the target's
// counters, in the same transaction. So the limiter needs no extra read, and an override applies
// from the next call on.
var kind = change.Kind[record]{
	Type: ResourceType, Table: dynamo.RateOverrides, Key: attrSubject,
	State: func(r record) change.Stamp {
		s := change.Stamp{ID: r.Subject, Revision: r.Revision, ChangedAt: r.UpdatedAt}
		if r.Kind == Organizations {
			s.Organization = r.Target.ID
		}
		return s
	},
	Shown: func(r record) any {
		if r.Removed {
			return nil
		}
		return r.Override
	},
	ETag: record.etag,
	Along: func(next record) []dynamo.TransactItem {
		key, at := next.key(), next.UpdatedAt
		parts := []dynamo.TransactItem{
			counterPart("counter", key, next.Limit, next.ExpiresAt, at, true),
			counterPart("copilot-counter", copilotKey(key), next.CopilotLimit, next.ExpiresAt, at, true),
		}
		switch {
		case next.Kind == Organizations:
			parts = append(parts,
				counterPart("box-counter", boxesKey(next.Target.ID), next.BoxLimit, next.ExpiresAt, at, false),
				counterPart("box-tally", dynamo.BoxTally(next.Target.ID), next.BoxLimit, next.ExpiresAt, at, false))
		case boxtoken.IsGateway(next.Issuer):
			parts = append(parts, counterPart("gateway-counter", gatewayKey(next.Name()), next.Limit, next.ExpiresAt, at, false))
		}
		return parts
	},
}

// An OverrideStore keeps the overrides that support sets, with the reason for each.
type OverrideStore struct{ db *dynamo.DB }

// NewOverrideStore makes the store.
func NewOverrideStore(db *dynamo.DB) *OverrideStore { return &OverrideStore{db} }

func overrideKey(target Target) dynamo.Key { return dynamo.Key{attrSubject: target.subject()} }

// Get returns the override of a target. It returns NOT_FOUND if there is none or it has expired.
func (s *OverrideStore) Get(ctx context.Context, target Target) (Override, error) {
	var r record
	_, err := s.db.Get(ctx, dynamo.RateOverrides, overrideKey(target), &r)
	if err == nil && !r.exists(s.db.Now()) {
		return Override{}, problem.Missing()
	}
	return r.Override, err
}

// Put sets the override of a target, and replaces any previous one. Created reports whether there was none. It returns
// VALIDATION_FAILED for an expiry in the past and for a user's BoxLimit, and PRECONDITION_FAILED.
func (s *OverrideStore) Put(ctx context.Context, from audit.Origin, target Target, spec OverrideSpec, when input.Preconditions) (created bool, err error) {
	var faults []problem.Fault
	if target.Kind == Users && spec.BoxLimit != nil {
		faults = append(faults, problem.Fault{Pointer: "/boxLimit", Code: "exclusive", Detail: "must not be given for a user; it is for all boxes of an organization"})
	}
	if now := s.db.Now(); spec.ExpiresAt != nil && !now.Before(*spec.ExpiresAt) {
		faults = append(faults, problem.Fault{Pointer: "/expiresAt", Code: "range", Detail: "must be in the future"})
	}
	if faults != nil {
		return false, problem.Invalid(faults)
	}
	return change.Put(ctx, s.db, from, kind, overrideKey(target), when, func(was record, at time.Time) (record, string, error) {
		next, event := was.set(target, spec, at)
		return next, event, nil
	})
}

// Delete removes an override, so that the defaults apply again. It returns NOT_FOUND if there is
// none, and PRECONDITION_FAILED.
func (s *OverrideStore) Delete(ctx context.Context, from audit.Origin, target Target, when input.Preconditions) error {
	_, err := change.Put(ctx, s.db, from, kind, overrideKey(target), when, func(was record, at time.Time) (record, string, error) {
		return was.remove(target, at)
	})
	return err
}

// counterPart writes an override into a counter's item, or removes it. A new item counts no
// request yet. An item with an override is kept for as long after the expiry as any other item
// after its last request. slots is set for a slot log.
func counterPart(part, key string, limit *int, expires *time.Time, now time.Time, slots bool) dynamo.TransactItem {
	values := map[string]any{":zero": 0}
	set := "SET #n = if_not_exists(#n, :zero), "
	if slots {
		values[":base"] = int64(slotLog.at(now) - slotLog.window)
		set += "#b = if_not_exists(#b, :base), "
	}
	if limit == nil {
		values[":ttl"] = now.Add(idle).Unix()
		set += "#ttl = :ttl REMOVE #lim, #until, #keep"
	} else {
		o := counterOverride{Limit: *limit}
		if expires != nil {
			o.Ends = *expires
		}
		values[":lim"], values[":until"] = o.Limit, until(o)
		values[":keep"] = until(o)/1000 + int64(idle/time.Second)
		set += "#ttl = :keep, #lim = :lim, #until = :until, #keep = :keep"
	}
	return dynamo.TransactUpdate(part, dynamo.RateCounters, dynamo.Key{attrSubject: key}, set, values, dynamo.Condition{})
}
