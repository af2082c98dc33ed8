package edge

import (
	"cmp"
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// A Registry registers boxes and retires them.
type Registry struct {
	db      *dynamo.DB
	reports *report.Store
	bells   *bell.Store
	quotas  Quotas
	leaves  Leaves
	caller  auth.Principal
	noted   *Edge
}

// Noting returns the registry that notes each box as it was before its change.
func (r *Registry) Noting(was *Edge) *Registry {
	own := *r
	own.noted = was
	return &own
}

func (r *Registry) note(was Edge) {
	if r.noted != nil {
		*r.noted = was
	}
}

// Leaves refuses that a box leaves a factory where it speaks for machines. It returns the condition on which the box may
// leave. See method.Store.Leaves.
type Leaves func(ctx context.Context, factoryID, box string) (dynamo.TransactItem, error)

// Leaving makes the registry ask before a box leaves its factory.
func (r *Registry) Leaving(leaves Leaves) *Registry {
	r.leaves = leaves
	return r
}

// left returns the conditions on which a registered box may make a move. Nobody is asked before a box is retired or reset: a
// stolen box must be stopped at once.
func (r *Registry) left(ctx context.Context, was, next Edge) ([]dynamo.TransactItem, error) {
	if r.leaves == nil || !was.Exists() || was.FactoryID == "" || was.FactoryID == next.FactoryID {
		return nil, nil
	}
	condition, err := r.leaves(ctx, was.FactoryID, was.EdgeID)
	if err != nil {
		return nil, err
	}
	return []dynamo.TransactItem{condition}, nil
}

// NewRegistry makes a registry.
func NewRegistry(db *dynamo.DB, shards report.Shards) *Registry {
	return &Registry{db: db, reports: report.NewStore(db, shards)}
}

// Ringing makes the registry call the boxes that it changes. Nil: the deployment has no bell.
func (r *Registry) Ringing(bells *bell.Store) *Registry {
	r.bells = bells
	return r
}

// For returns the registry for a caller. Without a caller, no change is allowed.
func (r *Registry) For(caller auth.Principal) *Registry {
	own := *r
	own.caller = caller
	return &own
}

// calls returns the calls after a change to a box, at the addresses where it may listen. No box listens before its
// first registration. After a move the box may listen at either channel, since it may have missed the previous move.
func (r *Registry) calls(was, next Edge) []bell.Call {
	if was.Revision == 0 {
		return nil
	}
	call := bell.Call{EdgeType: was.EdgeType, Channel: was.Channel, EdgeID: was.EdgeID,
		Organization: was.OrganizationID, Own: !r.caller.Has(auth.PlatformOwner)}
	list := []bell.Call{call}
	if was.Pair() != next.Pair() {
		call.EdgeType, call.Channel = next.EdgeType, next.Channel
		list = append(list, call)
	}
	return list
}

// Put registers a box or moves it, and reports whether it is new. It returns NOT_FOUND for an organization other than
// the caller's, FORBIDDEN if the caller is not allowed to change the box, PRECONDITION_FAILED, errors of the reads
// beside and of PinRequest, and CONFLICT if the box keeps changing, if it has itself said that it runs another version than
// somebody says, or if it leaves machines that have versions and nobody signs for it. The channel need not exist: boxes may be registered before the first
// release is published to them.
func (r *Registry) Put(ctx context.Context, from audit.Origin, id string, a Assignment, when input.Preconditions,
	beside ...func(context.Context) error) (created bool, err error) {
	if err := a.mayBeSaid(r.caller); err != nil {
		return false, err
	}
	if a.Departure != "" {
		from = from.For(audit.Grounds{Reason: a.Departure})
		r = r.Noting(r.noted)
		r.leaves = nil // signed
	}
	arrivals := ArrivalsBy(RegistrarOf(r.caller))
	return r.change(ctx, from, anyBox, id, when, func(was Edge, row report.Row, at time.Time) (Edge, boxtoken.Live, string, error) {
		a, err := r.pinning(ctx, a, Stored{was, row}, from.Actor.Person(), at)
		if err != nil {
			return was, row.Tokens, "", err
		}
		next, has, event := was.assign(id, a, row.Tokens, at)
		if event == "" {
			return next, has, event, nil
		}
		if err = mayAssign(r.caller, was, next, row); err == nil {
			err = mayAssume(was, next, row)
		}
		if err == nil && arrives(was, next) {
			err = r.Enter(ctx, arrivals, next)
		}
		return next, has, event, err
	}, beside...)
}

// Retire ends a box's registration. The box then disappears from all lists and counts, and its polls get NOT_FOUND.
// Retire returns NOT_FOUND for a box that does not exist, PRECONDITION_FAILED, and CONFLICT if the box keeps changing.
func (r *Registry) Retire(ctx context.Context, from audit.Origin, id string, when input.Preconditions) error {
	_, err := r.change(ctx, from, ownBox, id, when, func(was Edge, _ report.Row, at time.Time) (Edge, boxtoken.Live, string, error) {
		next, event, err := was.retire(at)
		return next, boxtoken.Live{}, event, err
	})
	return err
}

// Reset retires a box, if there is one, and lets an enrolment register its id again, but with none of its former
// tokens. It returns NOT_FOUND if the enrolment has nothing to do with the id. A box that keeps changing does not
// prevent it.
func (r *Registry) Reset(ctx context.Context, from audit.Origin, id string, by Enroller) error {
	var called []bell.Call
	err := change.Retry(ctx, r.db, from, func(set *change.Set) error {
		called = nil
		was, err := r.Find(ctx, id)
		if err != nil {
			return err
		}
		next, event, err := was.Edge.reset(by, set.After(was.Edge.UpdatedAt))
		if err != nil || event == "" {
			return err
		}
		called = r.calls(was.Edge, next)
		r.note(was.Edge)
		grouped, err := r.regroup(ctx, []regrouping{{"", was.Edge, next}})
		if err != nil {
			return err
		}
		set.With(grouped...)
		change.Record(set, r.along(&was.Row, &boxtoken.Live{}), was.Edge, next, event)
		return nil
	})
	if err == nil {
		r.bells.Ring(ctx, called...)
	}
	return err
}

// A rule decides how a change affects a box and its tokens, given its report row.
type rule func(was Edge, row report.Row, at time.Time) (next Edge, has boxtoken.Live, event string, err error)

// boxes says which boxes a change may affect: any box, even an unregistered one, or only a box that the caller may know
// of.
type boxes int

const (
	anyBox boxes = iota
	ownBox
)

// change changes a box and, in the same transaction, its report row, so that a census counts the box where it belongs.
// A caller of another organization gets NOT_FOUND before the preconditions reveal anything about the box.
func (r *Registry) change(ctx context.Context, from audit.Origin, on boxes, id string, when input.Preconditions,
	decide rule, beside ...func(context.Context) error) (created bool, err error) {
	var row report.Row
	var has boxtoken.Live
	var called []bell.Call
	var conditions []dynamo.TransactItem
	noted := func(was Edge, at time.Time) (next Edge, event string, err error) {
		called, conditions = nil, nil
		if was.Exists() || on == ownBox && !r.caller.Has(auth.PlatformOwner) {
			if err := mayKeep(r.caller, was); err != nil {
				if on == anyBox { // a condition gives the same result for a missing box as for one of another organization
					err = cmp.Or(when.Check(""), err)
				}
				return was, "", err
			}
		}
		if err := when.Check(kind.ETag(was, at)); err != nil {
			return was, "", err
		}
		if next, has, event, err = decide(was, row, at); err == nil && event != "" {
			called = r.calls(was, next)
			r.note(was)
			var grouped []dynamo.TransactItem
			if grouped, err = r.regroup(ctx, []regrouping{{"", was, next}}); err == nil && next.Exists() {
				conditions, err = r.left(ctx, was, next)
			}
			conditions = append(grouped, conditions...)
		}
		return next, event, err
	}
	k := r.along(&row, &has)
	along := k.Along
	k.Along = func(next Edge) []dynamo.TransactItem { return append(along(next), conditions...) }
	created, err = change.Put(ctx, r.db, from, k, key(id), input.Preconditions{}, noted, append(beside, func(ctx context.Context) (err error) {
		row, err = r.reports.Get(ctx, id)
		return err
	})...)
	if err == nil {
		r.bells.Ring(ctx, called...)
	}
	return created, err
}

// along is the kind of boxes, with the report row written along. The row is read before the box is recorded.
func (r *Registry) along(row *report.Row, has *boxtoken.Live) change.Kind[Edge] {
	k := kind
	k.Along = func(next Edge) []dynamo.TransactItem {
		registered := row.Registered(next.registration(*has))
		return append(r.reports.Ending(*row, registered, registered.EdgeAt), r.reports.Part(*row, registered))
	}
	return k
}
