package rollout

import (
	"context"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// ResourceType is that of rollouts in the audit trail.
const ResourceType = "rollout"

// A Store keeps rollouts. Whatever the size of the fleet, a start writes a rollout and its channel's
// row, and so does each move; no box is touched.
type Store struct {
	db       *dynamo.DB
	releases *release.Store
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db: db, releases: release.NewStore(db)} }

// Get returns a rollout, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, id string) (Rollout, error) {
	var r Rollout
	found, err := s.db.Get(ctx, dynamo.Rollouts, dynamo.Key{"id": id}, &r)
	if err == nil && !found {
		err = problem.Missing()
	}
	return r, err
}

// Start starts a rollout and returns its id; the id of the first call where the claim was used before.
// It returns NOT_FOUND for a channel that does not exist, RELEASE_NOT_PUBLISHED for a target that was
// never published, ROLLOUT_ACTIVE while another is active on the channel, IDEMPOTENCY_KEY_REUSED, and
// CONFLICT when the channel keeps changing or can remember no more targets of rollouts that ended.
func (s *Store) Start(ctx context.Context, from audit.Origin, p Plan, claim idempotency.Claim) (id string, err error) {
	var row release.Row
	var target release.Release
	return change.Create(ctx, s.db, from, claim,
		func(set *change.Set, id string) error {
			if err := p.check(row, target); err != nil {
				return err
			}
			r := Start(id, row.Channel, target, set.After(row.UpdatedAt))
			change.Record(set, kind, Rollout{}, r, "RolloutStarted")
			set.With(release.Replace(row, row.Begin(r.Wave())))
			return nil
		},
		func(ctx context.Context) (err error) {
			row, err = s.releases.Row(ctx, p.EdgeType, p.Channel)
			return err
		},
		func(ctx context.Context) (err error) {
			target, _, err = s.releases.Release(ctx, p.EdgeType, p.TargetVersion)
			return err
		})
}

// Move promotes, halts or completes a rollout and returns it as it then is. It returns NOT_FOUND,
// PRECONDITION_FAILED, INVALID_STATE_TRANSITION, and CONFLICT when the rollout keeps changing.
func (s *Store) Move(ctx context.Context, from audit.Origin, id string, m Move, when request.Preconditions) (now Rollout, err error) {
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		was, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := when.Check(request.Revision(was.Revision)); err != nil {
			return err
		}
		next, event, err := was.After(m, set.After(was.UpdatedAt))
		if err != nil {
			return err
		}
		now = next
		if event == "" {
			return nil
		}
		if err := s.follow(ctx, set, was, next); err != nil {
			return err
		}
		change.Record(set, kind, was, next, event)
		return nil
	})
	return now, err
}

// follow makes the channel's row follow a move. While a rollout goes on the row carries it, so promoting
// and halting need not read the row. Adopting the target changes the channel itself and needs what it
// was. A rollout that ended earlier is carried only until the next publication or start, so the row has
// to be looked at.
func (s *Store) follow(ctx context.Context, set *change.Set, was, next Rollout) error {
	if was.Status == Active && !was.adopts(next) {
		set.With(release.Carry(was.EdgeType, was.Channel, was.Wave(), next.Wave()))
		return nil
	}
	row, err := s.releases.Row(ctx, was.EdgeType, was.Channel)
	if err != nil {
		return err
	}
	switch {
	case was.adopts(next):
		change.Record(set, release.Kind, row, row.Adopt(next.Wave(), set.After(row.UpdatedAt)), "ReleaseAdopted")
	case row.Wave != nil && row.Wave.ID == was.ID:
		set.With(release.Carry(was.EdgeType, was.Channel, *row.Wave, next.Wave()))
	}
	return nil
}

var kind = change.Kind[Rollout]{
	Type: ResourceType, Table: dynamo.Rollouts, Key: "id",
	State: func(r Rollout) change.State {
		return change.State{ID: r.ID, Revision: r.Revision, ChangedAt: r.UpdatedAt}
	},
	Item: func(r Rollout) any { return item(r) },
}
