package enrolment

import (
	"context"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// ResourceType is the resource type of enrolments in the audit trail.
const ResourceType = "enrolment"

// keep is how long an enrolment is kept after it has expired.
const keep = 90 * 24 * time.Hour

// These are the parts of an enrolment's items: itself, the ids of its boxes, boxes that wait, and how many these are.
const (
	whole    = "enrolment"
	theIDs   = "ids"
	waiting  = "waiting/"
	theCrowd = "waits" // outside the range of waiting, and after ids: an export begins there
)

// An item is an enrolment with the keys of its list.
type item struct {
	Kept
	Part    string `json:"part"`
	ListKey string `json:"listKey"`
	Expires int64  `json:"expires"` // for the TTL
}

var kind = change.Kind[Kept]{
	Type: ResourceType, Table: dynamo.Enrolments, Key: "id",
	State: func(e Kept) change.Stamp {
		return change.Stamp{ID: e.ID, Revision: e.Revision, ChangedAt: e.UpdatedAt, Organization: e.OrganizationID}
	},
	Item: func(e Kept) any {
		return item{e, whole, timestamp.Text(e.CreatedAt) + " " + e.ID, e.expires()}
	},
	Shown: func(e Kept) any { return e.Enrolment },
}

func key(id, part string) dynamo.Key { return dynamo.Key{"id": id, "part": part} }

// expires is when an enrolment's items may be deleted.
func (e Enrolment) expires() int64 { return e.ExpiresAt.Add(keep).Unix() }

// write is the part of a transaction that stores the ids. The enrolment is written with them, and its revision detects
// other writers.
func (i IDs) write(e Enrolment) dynamo.TransactItem {
	return dynamo.TransactPut(theIDs, dynamo.Enrolments, nil, idsItem{i, e.ID, theIDs, e.expires()}, dynamo.Condition{})
}

type idsItem struct {
	IDs
	ID      string `json:"id"`
	Part    string `json:"part"`
	Expires int64  `json:"expires"`
}

// A Store stores enrolments.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

func (s *Store) get(ctx context.Context, id string) (e Kept, err error) {
	_, err = s.db.Get(ctx, dynamo.Enrolments, key(id, whole), &e)
	return e, err
}

func (s *Store) ids(ctx context.Context, id string) (i IDs, err error) {
	_, err = s.db.Get(ctx, dynamo.Enrolments, key(id, theIDs), &i)
	return i, err
}

// Verify returns the caller that a code speaks for; false if the service knows no such code, or if it is no longer valid.
func (s *Store) Verify(ctx context.Context, t boxtoken.Token) (auth.Principal, bool, error) {
	e, err := s.get(ctx, t.Subject)
	p := t.Principal("", "")
	return p, err == nil && e.admits(p, s.db.Now()), err
}

// List returns the enrolments of an organization that the caller may manage, newest first. A change appears after a
// moment. It returns NOT_FOUND for an organization that the caller does not act for.
func (s *Store) List(ctx context.Context, caller auth.Principal, organizationID string, w dynamo.Span) (dynamo.Page[Enrolment], error) {
	if !caller.MayRead(organizationID) {
		return dynamo.Page[Enrolment]{}, problem.Missing()
	}
	search := dynamo.NewSearch[Enrolment](s.db, w, dynamo.MostLooked)
	of := dynamo.Selection{Table: dynamo.Enrolments, Index: "byOrganization", Partition: organizationID, Descending: true}
	_, err := dynamo.Look(ctx, search, of, w.After, 0, "", false, func(_ context.Context, all []Enrolment) ([]*Enrolment, error) {
		shown := make([]*Enrolment, len(all))
		for i, e := range all {
			if (Kept{Enrolment: e}).shown(caller) == nil {
				shown[i] = &all[i]
			}
		}
		return shown, nil
	})
	return search.Page(), err
}

// shown returns NOT_FOUND unless the caller may read the enrolment: whoever manages it, and who sees the boxes of its
// organization.
func (e Kept) shown(caller auth.Principal) error {
	if caller.Has(auth.FleetViewer) && caller.Owns(e.OrganizationID) {
		return nil
	}
	return e.managed(caller)
}

// managed returns NOT_FOUND unless the caller may register the enrolment's boxes, whether the enrolment exists or not.
func (e Kept) managed(caller auth.Principal) error {
	if e.Revision == 0 || edge.MayInstall(caller, e.OrganizationID, e.FactoryID, e.EdgeType, e.Channel) != nil {
		return problem.Missing()
	}
	return nil
}

// Create makes an enrolment, and returns its id and its code. If the claim was used before, it returns the id of the
// first call and no code: a code is shown only once. The functions in beside run in parallel with the reads, and an
// error from one of them stops the call.
func (s *Store) Create(ctx context.Context, from audit.Origin, p Plan, claim idempotency.Claim,
	reads ...func(context.Context) error) (id, code string, err error) {
	var made boxtoken.Token
	id, err = change.Create(ctx, s.db, from, claim, func(set *change.Set, id string) error {
		if made.Subject != id { // a retry keeps the code of the first try, which may have been written
			code, made = boxtoken.New(boxtoken.Enrolment, id)
		}
		by := auth.Principal{Issuer: from.Actor.Issuer, UserID: from.Actor.UserID, Roles: from.Actor.Roles}
		e := Kept{Enrolment: plan(id, p, set.After(time.Time{})), CodeSHA256: made.SHA256, Registrar: edge.RegistrarOf(by)}
		change.Record(set, kind, Kept{}, e, "EnrolmentCreated")
		set.With(IDs{Listed: p.EdgeIDs}.write(e.Enrolment))
		return nil
	}, reads...)
	if err != nil || made.Subject != id {
		return id, "", err
	}
	return id, strings.TrimPrefix(code, string(boxtoken.Enrolment)+":"), nil
}

// End ends an enrolment: later calls with its code are refused. It returns NOT_FOUND, and CONFLICT if the enrolment
// keeps changing. To end an ended enrolment changes nothing.
func (s *Store) End(ctx context.Context, from audit.Origin, caller auth.Principal, id string) error {
	_, err := change.Put(ctx, s.db, from, kind, key(id, whole), input.Preconditions{}, func(was Kept, at time.Time) (Kept, string, error) {
		if err := was.managed(caller); err != nil {
			return was, "", err
		}
		next, event := was.end(at)
		return next, event, nil
	})
	return err
}

// A Registry registers the boxes of enrolments.
type Registry struct {
	*Store
	edges *edge.Registry
}

// NewRegistry makes a registry.
func NewRegistry(db *dynamo.DB, edges *edge.Registry) *Registry {
	return &Registry{NewStore(db), edges}
}

// Reset retires a box that the enrolment names or registered, and lets it register the id again, with a new token. It
// returns NOT_FOUND, also for any other id. A reset is never refused because of the state of the id.
func (s *Registry) Reset(ctx context.Context, from audit.Origin, caller auth.Principal, id, edgeID string) error {
	var e Kept
	var ids IDs
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) { e, err = s.get(ctx, id); return err },
		func(ctx context.Context) (err error) { ids, err = s.ids(ctx, id); return err })
	if err == nil {
		err = e.managed(caller)
	}
	if err != nil {
		return err
	}
	return s.edges.Reset(ctx, from, edgeID, edge.Enroller{ID: id, OrganizationID: e.OrganizationID, Names: ids.name(edgeID)})
}
