package rollout

import (
	"context"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
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

// A Plan is a caller's wish to start a rollout.
type Plan struct {
	EdgeType      string `json:"edgeType"`
	Channel       string `json:"channel"`
	TargetVersion string `json:"targetVersion"`
}

// Start starts a rollout and returns its id; the id of the first call where the claim was used before.
// It returns NOT_FOUND for a channel that does not exist, RELEASE_NOT_PUBLISHED for a target that was
// never published, ROLLOUT_ACTIVE while another is active on the channel, IDEMPOTENCY_KEY_REUSED, and
// CONFLICT when the channel keeps changing or can remember no more targets of rollouts that ended.
func (s *Store) Start(ctx context.Context, from audit.Origin, p Plan, claim idempotency.Claim) (id string, err error) {
	// One id for all tries: an answer that was lost is found by it.
	id = uuid.Must(uuid.NewV7()).String()
	err = dynamo.Decide(func() error {
		var row release.Row
		var target release.Release
		var published, repeated bool
		var first string
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) {
				row, err = s.releases.Row(ctx, p.EdgeType, p.Channel)
				return err
			},
			func(ctx context.Context) (err error) {
				target, published, err = s.releases.Release(ctx, p.EdgeType, p.TargetVersion)
				return err
			},
			func(ctx context.Context) (err error) { first, repeated, err = claim.First(ctx, s.db); return err })
		switch {
		case err != nil:
			return err
		case repeated:
			id = first
			return nil
		case row.Revision == 0:
			return problem.New(problem.NotFound, "There is no release channel %s.", release.Pair(p.EdgeType, p.Channel))
		case !published:
			return problem.New(problem.ReleaseNotPublished,
				"Version %s of %s was never published; publish it first, on a channel with few boxes.", p.TargetVersion, p.EdgeType)
		case row.Wave != nil && row.Wave.ID == id:
			return nil
		case row.Wave != nil && row.Wave.Active:
			return problem.New(problem.RolloutActive,
				"Rollout %s is active on %s; halt or complete it first.", row.Wave.ID, row.ID())
		}
		earlier := row.Remembered()
		if len(earlier) > release.MostEarlier {
			// To forget one would send the boxes that hold it back, and only a publication does that.
			return problem.New(problem.Conflict,
				"Boxes of %s may hold the targets of %d rollouts that ended since the last publication; publish the version that they are to have first.",
				row.ID(), len(earlier))
		}
		at := s.db.Now()
		r := Start(id, row.Channel, target, at)
		parts := []dynamo.Part{
			dynamo.PutPart("rollout", dynamo.Rollouts, item(r), dynamo.Absent("id")),
			begin(r, earlier, release.Unchanged(row)),
			changed(from, "RolloutStarted", nil, r, at),
		}
		return s.db.Commit(ctx, append(parts, claim.Parts(id, at)...)...)
	})
	return id, err
}

// Move promotes, halts or completes a rollout and returns it as it then is. It returns NOT_FOUND,
// PRECONDITION_FAILED, INVALID_STATE_TRANSITION, and CONFLICT when the rollout keeps changing.
func (s *Store) Move(ctx context.Context, from audit.Origin, id string, m Move, when request.Preconditions) (now Rollout, err error) {
	err = dynamo.Decide(func() error {
		was, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := when.Check(request.Revision(was.Revision)); err != nil {
			return err
		}
		at := audit.NotBefore(s.db.Now(), was.UpdatedAt)
		next, differs, err := was.After(m, at)
		if err != nil {
			return err
		}
		now = next
		if !differs {
			return nil
		}
		parts, err := s.channelParts(ctx, from, was, next, at)
		if err != nil {
			return err
		}
		return s.db.Commit(ctx, append(parts,
			dynamo.PutPart("rollout", dynamo.Rollouts, item(next), dynamo.AtRevision("id", was.Revision)),
			changed(from, was.event(next), was, next, at))...)
	})
	return now, err
}

// channelParts is what a move writes to the channel's row. While a rollout goes on the row carries it,
// so promoting and halting need not read the row. Adopting the target changes the channel itself and
// needs what it was. A rollout that ended earlier is carried only until the next publication or
// start, so the row has to be looked at.
func (s *Store) channelParts(ctx context.Context, from audit.Origin, was, next Rollout, at time.Time) ([]dynamo.Part, error) {
	carried := was.Wave()
	if was.Status == Active && !was.adopts(next) {
		return []dynamo.Part{carry(next, release.SameWave(&carried))}, nil
	}
	row, err := s.releases.Row(ctx, was.EdgeType, was.Channel)
	if err != nil {
		return nil, err
	}
	if was.adopts(next) {
		channelAt := audit.NotBefore(at, row.UpdatedAt)
		after := row.Channel.Advance(next.Wave(), channelAt)
		return []dynamo.Part{
			adopt(next, after, release.Unchanged(row)),
			release.Changed(from, "ReleaseAdopted", row.Channel, after, channelAt),
		}, nil
	}
	if row.Wave != nil && row.Wave.ID == was.ID {
		return []dynamo.Part{carry(next, release.SameWave(row.Wave))}, nil
	}
	return nil, nil
}

// begin makes the channel's row carry a new rollout, and remember the targets of those before it. An
// empty list is left out: the embedded store cannot keep one.
func begin(r Rollout, earlier []release.Target, when dynamo.Condition) dynamo.Part {
	set, values := "SET #wave = :wave REMOVE #earlier", map[string]any{":wave": r.Wave()}
	if len(earlier) > 0 {
		set, values = "SET #wave = :wave, #earlier = :earlier", map[string]any{":wave": r.Wave(), ":earlier": earlier}
	}
	return dynamo.UpdatePart("channel", dynamo.Channels, channelKey(r), set, values, when)
}

// carry makes the channel's row carry the rollout as it is.
func carry(r Rollout, when dynamo.Condition) dynamo.Part {
	return dynamo.UpdatePart("channel", dynamo.Channels, channelKey(r), "SET #wave = :wave",
		map[string]any{":wave": r.Wave()}, when)
}

// adopt makes the rollout's target the channel's version as well. The rollout reached every box, so
// what earlier ones brought is remembered no longer.
func adopt(r Rollout, c release.Channel, when dynamo.Condition) dynamo.Part {
	return dynamo.UpdatePart("channel", dynamo.Channels, channelKey(r),
		"SET #wave = :wave, #currentVersion = :version, #artifactUrl = :url, #sha256 = :sha256, #revision = :next, #updatedAt = :at REMOVE #earlier",
		map[string]any{
			":wave": r.Wave(), ":version": c.CurrentVersion, ":url": c.ArtifactURL, ":sha256": c.SHA256,
			":next": c.Revision, ":at": c.UpdatedAt,
		}, when)
}

func channelKey(r Rollout) dynamo.Key {
	return dynamo.Key{"edgeType": r.EdgeType, "channel": r.Channel}
}

// changed is the audit event of a rollout's change; before is nil at its start.
func changed(from audit.Origin, name string, before any, after Rollout, at time.Time) dynamo.Part {
	what := audit.Resource{Type: ResourceType, ID: after.ID, Revision: after.Revision}
	return audit.Part(audit.Platform, from, at, name, "", what, before, after)
}
