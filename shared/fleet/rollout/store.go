package rollout

import (
	"context"
	"time"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// ResourceType is the resource type of rollouts in the audit trail.
const ResourceType = "rollout"

// A Store stores rollouts. A start and each move write the rollout and its channel's row. They never write a box,
// whatever the size of the fleet.
type Store struct {
	db       *dynamo.DB
	releases *release.Store
	freezes  *freeze.Store
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store {
	return &Store{db: db, releases: release.NewStore(db), freezes: freeze.NewStore(db)}
}

// Find returns a rollout, and whether there is one.
func (s *Store) Find(ctx context.Context, id string) (r Rollout, found bool, err error) {
	found, err = s.db.Get(ctx, dynamo.Rollouts, dynamo.Key{"id": id}, &r)
	return r, found, err
}

// Get returns a rollout, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, id string) (Rollout, error) {
	r, found, err := s.Find(ctx, id)
	if err == nil && !found {
		err = problem.Missing()
	}
	return r, err
}

// Start starts a rollout and returns its id. If the claim was used before, it returns the id of that call. It returns
// NOT_FOUND for a channel that does not exist, RELEASE_NOT_PUBLISHED for a target that was never published,
// ARTIFACT_NOT_KEPT for one whose artifact was deleted, ROLLOUT_ACTIVE while another is active on the channel, FROZEN, IDEMPOTENCY_KEY_REUSED, and CONFLICT if the channel
// keeps changing or cannot remember more targets of ended rollouts.
//
// If boxes may have the target from such a rollout, the guard only advises at first, as after a resumption. Evidence
// from an earlier rollout of the version on the channel still counts: the rollout inherits the starts of its stages.
func (s *Store) Start(ctx context.Context, from audit.Origin, p Plan, claim idempotency.Claim) (id string, err error) {
	var row release.ChannelRow
	var target release.Release
	var frozen *freeze.Freeze
	var earlier []Rollout
	return change.Create(ctx, s.db, from, claim,
		func(set *change.Set, id string) error {
			if err := p.check(row, target); err != nil {
				return err
			}
			if err := frozen.Refuse(from.Grounds); err != nil {
				return err
			}
			r := Start(id, row.Channel, target, p.Policy, from.Actor.Person(), set.After(row.UpdatedAt))
			if row.Remembers(target.Version) || row.ReturnedBy(target.Version) != "" {
				r = r.advised()
			}
			for _, e := range earlier {
				if e.TargetVersion == r.TargetVersion {
					r = r.Follows(e) // which inherited those of earlier rollouts
					break
				}
			}
			r.Urgent, r.NewBoxes = p.Urgent, p.NewBoxes
			change.Record(set, Kind, Rollout{}, r, "RolloutStarted")
			set.With(release.Replace(row, row.Begin(r.Carried()).Showing(target)))
			return nil
		},
		func(ctx context.Context) (err error) {
			row, err = s.releases.Row(ctx, p.EdgeType, p.Channel)
			return err
		},
		func(ctx context.Context) (err error) {
			if target, err = s.releases.Release(ctx, p.EdgeType, p.TargetVersion); err == nil {
				err = artifact.Check(ctx, s.db, target)
			}
			return err
		},
		func(ctx context.Context) (err error) {
			frozen, err = s.freezes.Holding(ctx)
			return err
		},
		func(ctx context.Context) error {
			page, err := s.List(ctx, Filter{EdgeType: p.EdgeType, Channel: p.Channel}, dynamo.Span{Limit: mostEarlier})
			earlier = page.Items
			return err
		})
}

// mostEarlier is how many of a channel's last rollouts a start searches for one of the same version.
const mostEarlier = 20

// Move promotes, halts, resumes or completes a rollout and returns its new state. It returns NOT_FOUND,
// PRECONDITION_FAILED, INVALID_STATE_TRANSITION, FROZEN, APPROVAL_REQUIRED, WINDOW_CLOSED, and CONFLICT if the rollout
// keeps changing. It also returns CONFLICT if the channel's row carries another revision of the rollout. That happens
// if one of the two tables was restored to an earlier time. A halt then makes them agree.
//
// A halt never loses to other changes to the rollout: it is retried until the call's time is over, and the others wait
// meanwhile.
func (s *Store) Move(ctx context.Context, from audit.Origin, id string, m Move, when input.Preconditions) (now Rollout, err error) {
	if m.Status == Halted {
		now, err = s.halt(ctx, from, id, m, when)
		if err != nil || !m.Urgent || now.Urgent {
			return now, err
		}
		m, when = Move{Urgent: true}, input.Preconditions{} // it had been returned before
	}
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		var was Rollout
		var frozen *freeze.Freeze
		reads := []func(context.Context) error{func(ctx context.Context) (err error) {
			was, err = s.Get(ctx, id)
			return err
		}, func(ctx context.Context) error { return s.notHalting(ctx, id) }}
		if m.advances() {
			reads = append(reads, func(ctx context.Context) (err error) {
				frozen, err = s.freezes.Holding(ctx)
				return err
			})
		}
		if err := dynamo.Together(ctx, reads...); err != nil {
			return err
		}
		if err := when.Check(input.Revision(was.Revision)); err != nil {
			return err
		}
		if err := s.haveBoxes(ctx, m.Without); err != nil {
			return err
		}
		next, event, err := was.After(m, Moment{By: from.Actor.Person(), At: set.After(was.UpdatedAt), Freeze: frozen, Grounds: from.Grounds})
		now = next
		if err != nil || event == "" {
			return err
		}
		if err := s.follow(ctx, set, was, next); err != nil {
			return err
		}
		change.Record(set, Kind, was, next, event)
		return nil
	})
	return now, disagreement(err)
}

// disagreement explains the one conflict that a retry does not solve. The rollout and its channel's row are always
// written together, so a race cannot cause it.
func disagreement(err error) error {
	if !dynamo.Refused(err, release.ResourceType) || dynamo.Refused(err, ResourceType) || dynamo.Collided(err) {
		return err
	}
	return problem.Wrap(err, problem.Conflict,
		"The channel and the rollout disagree about the rollout's state, as after a restore of one table. Halt the rollout, or publish on its channel.")
}

// SetPolicy gives a rollout a new policy. It returns NOT_FOUND, PRECONDITION_FAILED, INVALID_STATE_TRANSITION,
// WINDOW_CLOSED and CONFLICT.
func (s *Store) SetPolicy(ctx context.Context, from audit.Origin, id string, p guard.Policy, when input.Preconditions) error {
	return s.change(ctx, from, id, when, func(was Rollout, at time.Time) (Rollout, string, error) {
		return was.WithPolicy(p, from.Actor.Person(), at)
	})
}

// Approve approves a stage of a rollout. It returns NOT_FOUND, PRECONDITION_FAILED, INVALID_STATE_TRANSITION,
// SELF_APPROVAL and CONFLICT.
func (s *Store) Approve(ctx context.Context, from audit.Origin, id string, stage int, when input.Preconditions) error {
	return s.change(ctx, from, id, when, func(was Rollout, at time.Time) (Rollout, string, error) {
		return was.Approve(stage, from.Actor.Person(), at)
	})
}

// change applies a rule that does not move boxes to a rollout. It also writes the channel's row, since the copy of the
// rollout has the revision.
func (s *Store) change(ctx context.Context, from audit.Origin, id string, when input.Preconditions, rule change.Rule[Rollout]) error {
	err := change.Make(ctx, s.db, from, func(set *change.Set) error {
		var was Rollout
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) { was, err = s.Get(ctx, id); return err },
			func(ctx context.Context) error { return s.notHalting(ctx, id) })
		if err != nil {
			return err
		}
		if err := when.Check(input.Revision(was.Revision)); err != nil {
			return err
		}
		next, event, err := rule(was, set.After(was.UpdatedAt))
		if err != nil || event == "" {
			return err
		}
		if err := s.follow(ctx, set, was, next); err != nil {
			return err
		}
		change.Record(set, Kind, was, next, event)
		return nil
	})
	return disagreement(err)
}

// follow writes the channel's row with a move. While a rollout is active, the row carries it, so a promotion and a halt
// need not read the row. A rollout that ended is carried until the next publication or start, so the row must be read.
// To adopt the target changes the channel itself.
func (s *Store) follow(ctx context.Context, set *change.Set, was, next Rollout) error {
	if was.Status == Active && !was.adopts(next) {
		set.With(release.Carry(was.EdgeType, was.Channel, was.Carried(), next.Carried()))
		return nil
	}
	var row release.ChannelRow
	var target release.Release
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		row, err = s.releases.Row(ctx, was.EdgeType, was.Channel)
		return err
	}}
	if was.adopts(next) {
		reads = append(reads, func(ctx context.Context) (err error) {
			target, err = s.releases.Release(ctx, was.EdgeType, was.TargetVersion)
			return err
		})
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return err
	}
	carries := row.Rollout != nil && row.Rollout.ID == was.ID
	switch {
	case next.ReturnedAt != nil && next.Urgent && !was.Urgent:
		set.With(release.Replace(row, row.Hurried(next.Carried())))
	case was.adopts(next):
		if !carries || !dynamo.Same(*row.Rollout, was.Carried()) {
			return &dynamo.ConditionError{Parts: []string{release.ResourceType}}
		}
		change.Record(set, release.Kind, row, row.Adopt(next.Carried(), target, set.After(row.UpdatedAt)), "ReleaseAdopted")
	case carries:
		set.With(release.Carry(was.EdgeType, was.Channel, was.Carried(), next.Carried()))
	case next.Status == Active:
		return outlived()
	}
	return nil
}

// Kind describes rollouts to the write path.
var Kind = change.Kind[Rollout]{
	Type: ResourceType, Table: dynamo.Rollouts, Key: "id",
	State: func(r Rollout) change.Stamp {
		return change.Stamp{ID: r.ID, Revision: r.Revision, ChangedAt: r.UpdatedAt}
	},
	Item: func(r Rollout) any { return item(r) },
}
