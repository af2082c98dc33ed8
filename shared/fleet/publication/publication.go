// Package publication puts versions on release channels. A publication reaches every box of its channel
// at the box's next poll, so it ends the rollout that is active there, in the same transaction.
package publication

import (
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/program"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// A Store makes publications.
type Store struct {
	db       *dynamo.DB
	releases *release.Store
	rollouts *rollout.Store
	freezes  *freeze.Store
	caller   auth.Principal
}

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store {
	return &Store{db: db, releases: release.NewStore(db), rollouts: rollout.NewStore(db), freezes: freeze.NewStore(db)}
}

// For returns the store for a caller, who may be a program.
func (s *Store) For(caller auth.Principal) *Store {
	as := *s
	as.caller = caller
	return &as
}

// Made is what a publication has made: the release, and whether its channel is new. Count is of before.
type Made struct {
	Created bool
	release.Release
	Count  Count
	Urgent bool
}

// Publish puts a version on a channel. It returns RELEASE_IMMUTABLE for a
// version that was published with another digest, errors of release.Again and release.MayRequire, ARTIFACT_NOT_KEPT, FROZEN, ROLLOUT_ACTIVE to a program that
// may not end the rollout, FORBIDDEN to one that would change what others carry, PRECONDITION_FAILED, and CONFLICT if the channel keeps changing.
func (s *Store) Publish(ctx context.Context, from audit.Origin, asked release.Publication, when input.Preconditions) (made Made, err error) {
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		var row release.ChannelRow
		var known, stone release.Release
		var frozen *freeze.Freeze
		var p release.Publication
		var was release.Said
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) {
				row, err = s.releases.Row(ctx, asked.EdgeType, asked.Channel)
				return err
			},
			func(ctx context.Context) (err error) {
				known, err = s.releases.Release(ctx, asked.EdgeType, asked.CurrentVersion)
				return err
			},
			func(ctx context.Context) (err error) { stone, err = s.stone(ctx, asked); return err },
			func(ctx context.Context) (err error) { was, err = s.said(ctx, asked); return err },
			func(ctx context.Context) (err error) { frozen, err = s.freezes.Holding(ctx); return err },
			func(ctx context.Context) error {
				made.Count = s.lastCount(ctx, asked.EdgeType, asked.Channel)
				return nil
			},
			func(ctx context.Context) (err error) { p, err = s.complete(ctx, set, asked); return err })
		if err == nil && asked.SHA256 == "" {
			p, err = s.again(ctx, set, from, asked, known)
		}
		if err != nil {
			return err
		}
		made.Created = row.Revision == 0 // set by the last try: an earlier one may have lost a race
		if err := when.Check(row.ETag()); err != nil {
			return err
		}
		if err := known.Allows(p, set.After(row.UpdatedAt)); err != nil {
			return err
		}
		p = known.Ordered(p, stone, set.After(row.UpdatedAt))
		if err := known.MayRequire(p, stone, set.After(row.UpdatedAt)); err != nil {
			return err
		}
		said := p
		said.Details = known.With(p.Details)
		next := row.Publish(said, set.After(row.UpdatedAt))
		if err := frozen.Refuse(program.Grounds(from)); err != nil {
			return err
		}
		bound := known.Published(p, stone.Onward(), next.UpdatedAt)
		made.Release, made.Urgent = bound, p.Urgent
		change.Record(set, release.Kind, row, next.Showing(bound).Hastening(p.Urgent, bound.Urgency), "ReleasePublished")
		if err := s.bind(ctx, set, from, p, known, bound, was); err != nil {
			return err
		}
		return s.end(ctx, set, from, row.Rollout)
	})
	return made, err
}

// again completes a publication that only names a release, which a program needs the right to publish.
func (s *Store) again(ctx context.Context, set *change.Set, from audit.Origin, p release.Publication, known release.Release) (release.Publication, error) {
	p, err := known.Again(p)
	if err == nil {
		err = program.MayPublish(s.caller, p, from.Grounds)
	}
	if err != nil {
		return p, err
	}
	return s.complete(ctx, set, p)
}

// complete completes a publication of an artifact that the service keeps. One that only names a release says nothing yet.
func (s *Store) complete(ctx context.Context, set *change.Set, p release.Publication) (release.Publication, error) {
	if p.SHA256 == "" {
		return p, nil
	}
	return artifact.Complete(ctx, s.db, set, p)
}

// bind records what a publication changes of its release, and of what was said of it. It returns errors of mayBind.
func (s *Store) bind(ctx context.Context, set *change.Set, from audit.Origin, p release.Publication, known, bound release.Release, was release.Said) error {
	said, event, err := was.After(release.Named{EdgeType: p.EdgeType, Version: p.CurrentVersion}, release.SaidWish{Documents: p.Documents}, set.After(was.UpdatedAt))
	same := dynamo.Same(bound, known)
	if err != nil || same && event == "" {
		return err
	}
	if err := s.mayBind(ctx, from, known); err != nil {
		return err
	}
	if event != "" {
		change.Record(set, release.SaidKind, was, said, event)
	}
	if !same {
		set.With(release.Bind(known, bound))
	}
	return nil
}

// mayBind returns FORBIDDEN to a program that would change a release that others carry.
func (s *Store) mayBind(ctx context.Context, from audit.Origin, known release.Release) error {
	if !program.Is(from) || known.SHA256 == "" {
		return nil
	}
	channel, err := s.releases.Elsewhere(ctx, known.EdgeType, s.caller.MayPublish, known.Version)
	if err == nil {
		err = program.Bound(channel, "version "+known.Version)
	}
	return err
}

// Describe stores what a caller says of a release, and reports whether nothing was said of it before. It returns NOT_FOUND,
// ARTIFACT_NOT_KEPT, and errors of release.Said.After.
func (s *Store) Describe(ctx context.Context, from audit.Origin, n release.Named, w release.SaidWish) (created bool, err error) {
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		was, _, err := s.known(ctx, n)
		if err != nil {
			return err
		}
		next, event, err := was.After(n, w, set.After(was.UpdatedAt))
		created = event != "" && was.Revision == 0 // set by the last try
		if err != nil || event == "" {
			return err
		}
		change.Record(set, release.SaidKind, was, next, event)
		_, err = artifact.Complete(ctx, s.db, set, release.Publication{EdgeType: n.EdgeType, Documents: w.Documents})
		return err
	})
	return created, err
}

// Shelve stores a piece of what a release contains, and reports whether it was missing. It returns NOT_FOUND, errors of
// release.Said.Holding, and FORBIDDEN to a program that may not change the release.
func (s *Store) Shelve(ctx context.Context, from audit.Origin, p release.Piece) (created bool, err error) {
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		was, known, err := s.known(ctx, p.Named)
		if err == nil {
			err = s.mayBind(ctx, from, known)
		}
		if err != nil {
			return err
		}
		next, event, err := was.Holding(p, set.After(was.UpdatedAt))
		created = event != ""
		if err != nil || event == "" {
			return err
		}
		change.Record(set, release.SaidKind, was, next, event)
		set.With(release.Shelve(p)...)
		return nil
	})
	return created, err
}

// known returns a release with what is said of it, or NOT_FOUND.
func (s *Store) known(ctx context.Context, n release.Named) (was release.Said, known release.Release, err error) {
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) { was, err = s.releases.Said(ctx, n); return err },
		func(ctx context.Context) (err error) {
			known, err = s.releases.Release(ctx, n.EdgeType, n.Version)
			return err
		})
	if err == nil && known.Version == "" {
		err = problem.Missing()
	}
	return was, known, err
}

// said reads what is said of a release, if a publication says more.
func (s *Store) said(ctx context.Context, p release.Publication) (is release.Said, err error) {
	if len(p.Documents) == 0 {
		return is, nil
	}
	return s.releases.Said(ctx, release.Named{EdgeType: p.EdgeType, Version: p.CurrentVersion})
}

// stone reads the release that a publication requires; its Version is empty if there is none.
func (s *Store) stone(ctx context.Context, p release.Publication) (stone release.Release, err error) {
	if p.Requires == "" {
		return stone, nil
	}
	if stone, err = s.releases.Release(ctx, p.EdgeType, p.Requires); err == nil {
		err = artifact.Check(ctx, s.db, stone)
	}
	return stone, err
}

// end ends the rollout that the row carried, if it is active. After a restore of one table, the row and the rollout may
// disagree about that, so both are read. The row forgets the rollout in any case.
func (s *Store) end(ctx context.Context, set *change.Set, from audit.Origin, carried *release.Carried) error {
	if carried == nil {
		return nil
	}
	was, found, err := s.rollouts.Find(ctx, carried.ID)
	if err != nil || !found {
		return err
	}
	if next, event := was.Superseded(carried.Revision, set.After(was.UpdatedAt)); event != "" {
		if err := program.MayEnd(from, was.StartedBy); err != nil {
			return err
		}
		change.Record(set, rollout.Kind, was, next, event)
	}
	return nil
}
