// Package freeze keeps every rollout at its stage for a while, for example over the holidays: nothing can be published,
// started, promoted or resumed until the freeze ends. Halts always work.
//
// The freeze is one item. Changes read it before their transactions, not in them. So a change that began before the
// freeze may be written just after it.
package freeze

import (
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// longest is the longest time that a freeze can last.
const longest = 30 * 24 * time.Hour

// A Freeze is in force until a time.
type Freeze struct {
	Reason    string    `json:"reason"`
	Until     time.Time `json:"until"` // the first instant at which it is no longer in force
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1; keeps counting if a freeze is lifted and another is set
}

// A record is the freeze as it is stored. A lifted freeze stays stored, so that no revision is used twice.
type record struct {
	ID     string `json:"id"`
	Lifted bool   `json:"lifted,omitempty"`
	Freeze
	dynamo.Unknown
}

// holds reports whether a freeze is in force.
func (r record) holds(now time.Time) bool { return r.Revision > 0 && !r.Lifted && now.Before(r.Until) }

// set sets the freeze that a caller wishes for. It returns the next record and the event for the audit trail, which is
// empty if nothing changes.
func (r record) set(w Wish, at time.Time) (next record, event string, err error) {
	if !w.Until.After(at) || w.Until.Sub(at) > longest {
		return r, "", problem.Invalid([]problem.Fault{{Pointer: "/until", Code: "range", Detail: "must be in the future, and at most 30 days ahead"}})
	}
	next = record{ID: id, Freeze: Freeze{Reason: w.Reason, Until: w.Until, CreatedAt: at, UpdatedAt: at, Revision: r.Revision + 1}}
	if r.holds(at) {
		next.CreatedAt = r.CreatedAt
		again := next
		again.UpdatedAt, again.Revision = r.UpdatedAt, r.Revision
		if dynamo.Same(again, r) {
			return r, "", nil
		}
	}
	return next, "FreezeSet", nil
}

// lift ends the freeze. It returns NOT_FOUND if there is none.
func (r record) lift(at time.Time) (next record, event string, err error) {
	if !r.holds(at) {
		return r, "", problem.Missing()
	}
	return record{ID: id, Lifted: true, Freeze: Freeze{UpdatedAt: at, Revision: r.Revision + 1}}, "FreezeLifted", nil
}

// Refuse returns FROZEN if there is a freeze and the caller gives no reason to override it.
func (f *Freeze) Refuse(g audit.Grounds) error {
	if f == nil || g.OverrideReason != "" {
		return nil
	}
	return problem.New(problem.Frozen, "Rollouts are frozen until %s: %s. Give an overrideReason to override this.", f.Until.UTC().Format(time.RFC3339), f.Reason)
}
