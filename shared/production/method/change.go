package method

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/chain"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// SignerOf returns the caller as a signer.
func SignerOf(caller auth.Principal) Signer {
	s := Signer{Person: audit.Person{Issuer: caller.Issuer, UserID: caller.UserID}, Name: caller.Name}
	if !caller.AuthenticatedAt.IsZero() {
		s.AuthenticatedAt = &caller.AuthenticatedAt
	}
	return s
}

// ETag returns the entity tag of a version's content: its hash.
func (v Version) ETag() string {
	if v.Revision == 0 {
		return ""
	}
	return `"` + v.ContentSHA256 + `"`
}

// A state is what the rules need to decide on a change of a version.
type state struct {
	owner   factory.Factory
	method  Method
	version Version
	other   Version // the version that a withdrawal may reinstate
}

// read reads a state. It returns NOT_FOUND if the factory does not belong to the caller's
// organization or has no such method.
func (s *Store) read(ctx context.Context, caller auth.Principal, r Ref, other int64) (st state, err error) {
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			st.owner, err = s.factories.Owned(ctx, caller, r.FactoryID)
			return err
		},
		func(ctx context.Context) (err error) {
			st.method, err = s.find(ctx, r.FactoryID, r.MethodID)
			return err
		},
		func(ctx context.Context) (err error) { st.version, err = s.lookup(ctx, r); return err },
		func(ctx context.Context) (err error) {
			st.other, err = s.lookup(ctx, Ref{r.FactoryID, r.MethodID, other})
			return err
		})
	return st, err
}

func (st state) changedAt() time.Time {
	if at := st.method.changedAt(); at.After(st.version.UpdatedAt) {
		return at
	}
	return st.version.UpdatedAt
}

// Save saves a content as a version, and reports whether the version is new. The preconditions
// apply to the content's hash. It returns the errors of Method.Save, NOT_FOUND for a method
// outside the caller's organization, PRECONDITION_FAILED and CONFLICT.
func (s *Store) Save(ctx context.Context, caller auth.Principal, from audit.Origin, r Ref, c content.Content, when input.Preconditions) (created bool, err error) {
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		st, err := s.read(ctx, caller, r, 0)
		if err != nil {
			return err
		}
		if err := when.Check(st.version.ETag()); err != nil {
			return err
		}
		o, err := st.method.Save(st.version, r.Version, c, SignerOf(caller).Person, set.After(st.changedAt()))
		if created = st.version.Revision == 0; err != nil || o.Event == "" {
			return err
		}
		set.With(putContent(r.MethodID, c))
		return record(set, from, st, o)
	})
	return created, err
}

// Moved is the answer to a move: the version, and which versions hold and follow on which machines.
type Moved struct {
	// Changed is false if everything was already as asked.
	Changed bool      `json:"changed"`
	Version Shown     `json:"version"`
	Holds   []Holding `json:"holds"`
	Next    []Holding `json:"next"`
	// Waiting are the machines that do steps of the version that a withdrawal reinstated, and wait for a signature.
	Waiting []string `json:"waiting,omitempty"`
}

// Move moves a version, and returns the outcome. It returns the errors of Method.Move,
// METHOD_INCOMPLETE if the content is incomplete for production, NOT_FOUND for a version outside
// the caller's organization, PRECONDITION_FAILED and CONFLICT.
func (s *Store) Move(ctx context.Context, caller auth.Principal, from audit.Origin, r Ref, move Move, when input.Preconditions) (Moved, error) {
	var o Result
	var at time.Time
	var seen survey
	var read content.Content
	from = from.For(audit.Grounds{Reason: move.Reason})
	attempt := change.Make
	if move.Status == Withdrawn {
		attempt = change.Retry // a recall must not lose a race
	}
	err := attempt(ctx, s.db, from, func(set *change.Set) error {
		st, err := s.read(ctx, caller, r, move.Reinstate)
		if err != nil {
			return err
		}
		if st.version.Revision == 0 {
			return problem.Missing()
		}
		if err := when.Check(input.Revision(st.version.Revision)); err != nil {
			return err
		}
		at, move.number, move.park = set.After(st.changedAt()), st.owner.Changes(), st.owner.Machines()
		now := st.method
		if (move.Status == Trial || move.Status == Released) && len(now.Withdrawals) >= maxWithdrawals {
			if seen, err = s.survey(ctx, r); err != nil {
				return err
			}
			now = now.pruned(seen) // most may be confirmed by now
		}
		o, err = now.Move(st.version, st.other, move, SignerOf(caller), st.owner.MethodApproval, at)
		if err != nil || o.Event == "" {
			return err
		}
		switch {
		case o.Version.Status == Withdrawn && st.version.approvedOnce():
			if seen, err = s.surveyed(ctx, r, st, seen); err != nil {
				return err
			}
			o.Method = o.Method.recalls(st.version, seen, move.number, at)
		case o.Version.Status != Draft && o.Version.Status != Withdrawn:
			machines, err := s.complete(ctx, st.version, move, &read)
			if err != nil {
				return err
			}
			set.With(machines...)
		}
		set.With(st.conditions(move)...)
		return record(set, from, st, o)
	})
	if err != nil {
		return Moved{}, err
	}
	moved := Moved{Changed: o.Event != "", Version: o.Method.shown(o.Version, at).saying(read)}
	moved.Holds, moved.Next = o.Method.Effectivity.Holdings(at)
	if move.Reinstate > 0 {
		moved.Waiting = seen.waiting(o.Method, move.Reinstate, at)
	}
	return moved, nil
}

// conditions are the conditions on other items that a move depends on. The version and the method have the conditions
// of their own writes.
func (st state) conditions(move Move) []dynamo.TransactItem {
	var parts []dynamo.TransactItem
	if st.other.Revision > 0 {
		parts = append(parts, dynamo.TransactCheck("reinstated", dynamo.MethodVersions,
			Ref{st.method.FactoryID, st.method.MethodID, st.other.Version}.key(), dynamo.AtRevision("number", st.other.Revision)))
	}
	switch {
	case move.Status == Trial, move.Status == Released: // the version records the factory's rule, too
		parts = append(parts, st.owner.Check(st.owner.Unchanged().And(dynamo.AtRevision("factoryId", st.owner.Revision))))
	case move.Status == Withdrawn && st.version.approvedOnce():
		parts = append(parts, st.owner.Check(st.owner.Unchanged()))
	}
	return parts
}

// record adds the changes of a version and its method to a set. If both change, the method's
// chain gets a new link.
func record(set *change.Set, from audit.Origin, st state, o Result) error {
	set.With(recalled(st.version, o.Version, st.owner.OrganizationID)...)
	if o.Method.Revision == st.method.Revision {
		change.Record(set, versionKind(&st.owner), st.version, o.Version, o.Event)
		return nil
	}
	if err := o.Method.fits(o.Version.Status); err != nil {
		return err
	}
	version, err := entry(from, o.Event, o.Version.UpdatedAt, audit.Resource{Type: VersionResourceType, ID: o.Version.ID(), Revision: o.Version.Revision}, o.Version)
	if err != nil {
		return err
	}
	method, err := entry(from, o.Event, o.Method.changedAt(), audit.Resource{Type: ResourceType, ID: o.Method.MethodID, Revision: o.Method.Revision}, o.Method)
	if err != nil {
		return err
	}
	if o.Method.TrailSHA256, err = chain.Next(st.method.TrailSHA256, version, method); err != nil {
		return err
	}
	change.RecordSalted(set, versionKind(&st.owner), st.version, o.Version, o.Event, version.Salts)
	change.RecordSalted(set, kind(&st.owner), st.method, o.Method, o.Event, method.Salts)
	set.With(newPlaces(st.method, o.Method)...)
	return nil
}

func entry(from audit.Origin, event string, at time.Time, of audit.Resource, after any) (chain.Entry, error) {
	return chain.Entry{
		EventName: event, EventTime: at, Actor: from.Actor, SourceIP: from.SourceIP, RequestID: from.RequestID,
		Reason: from.Reason, Resource: of, After: after,
	}.Salted()
}
