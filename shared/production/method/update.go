package method

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// A Retirement is a signature that nothing is made by a method any more.
type Retirement struct {
	machine.Person
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// An Update is what a caller changes about a method itself. At least one of Name and Retired is given.
type Update struct {
	Name    string
	Retired *bool
	Reason  string // required with Retired
}

// UpdateOf reads an update.
func UpdateOf(body *input.Object) Update {
	var u Update
	u.Name, _ = body.OptionalText("name", input.DisplayName)
	if is, given := body.OptionalBoolean("retired"); given {
		u.Retired = &is
	}
	reason, given := body.OptionalText("reason", ReasonRule)
	u.Reason = reason
	body.RequireAny("name", "retired")
	if u.Retired != nil && !given {
		body.Missing("reason")
	}
	return u
}

// updated decides the result of an update, and its event; empty if nothing changes.
func (m Method) updated(u Update, by machine.Person, at time.Time) (next Method, event string, err error) {
	next = m
	if u.Name != "" && u.Name != m.Name {
		next.Name, event = u.Name, "ProductionMethodRenamed"
	}
	switch {
	case u.Retired == nil || *u.Retired == (m.Retired != nil):
	case !*u.Retired:
		next.Retired, event = nil, "ProductionMethodReopened"
	default:
		if now := m.Effectivity.Prune(at); len(now) > 0 {
			return m, "", problem.New(problem.InvalidStateTransition, "Version %d holds or will hold. Withdraw it first; a method with nothing that holds can be retired.",
				now[len(now)-1].Version)
		}
		if latest := m.latest(); latest.Status.open() {
			return m, "", problem.New(problem.InvalidStateTransition, "Version %d is %s. Withdraw it first.", latest.Version, latest.Status.words())
		}
		next.Retired, event = &Retirement{by, at, u.Reason}, "ProductionMethodRetired"
	}
	if event == "" {
		return m, "", nil
	}
	return next.changed(at), event, nil
}

func (m Method) isRetired() error {
	return problem.New(problem.InvalidStateTransition, "The method was retired on %s: %s. Reopen it first.", m.Retired.At.Format(time.DateOnly), m.Retired.Reason)
}

// Update renames, retires or reopens a method of the caller's organization. It returns NOT_FOUND for any other method,
// INVALID_STATE_TRANSITION while a version holds, follows or is open, PRECONDITION_FAILED and CONFLICT. It is no link of the chain:
// the next link has the name.
func (s *Store) Update(ctx context.Context, caller auth.Principal, from audit.Origin, r Ref, u Update, when input.Preconditions) (now Made, err error) {
	err = change.Make(ctx, s.db, from.For(audit.Grounds{Reason: u.Reason}), func(set *change.Set) error {
		var owner factory.Factory
		var was Method
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) {
				owner, err = s.factories.Owned(ctx, caller, r.FactoryID)
				return err
			},
			func(ctx context.Context) (err error) { was, err = s.find(ctx, r.FactoryID, r.MethodID); return err })
		if err != nil {
			return err
		}
		all, err := s.made(ctx, r.FactoryID, was)
		if err != nil {
			return err
		}
		now = all[0]
		if err := when.Check(now.ETag()); err != nil {
			return err
		}
		next, event, err := was.updated(u, machine.PersonOf(caller), set.After(was.changedAt()))
		if now.Method = next; err != nil || event == "" {
			return err
		}
		change.Record(set, kind(&owner), was, next, event)
		return nil
	})
	return now, err
}
