package rollout

import (
	"cmp"
	"context"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// An intent announces that somebody is trying to halt a rollout. While it is valid, other writers of the rollout wait
// or give up, so that the halt succeeds even against many of them. It is a separate item in the table of rollouts, in
// none of the indexes: a write of the rollout itself would conflict with theirs.
type intent struct {
	ID    string    `json:"id"`
	Until time.Time `json:"until"`
}

// intentTime is how long an intent is valid if its writer dies. Otherwise it ends with the halt.
const intentTime = time.Second

func intentID(id string) string { return "halt#" + id }

// intend announces that a halt is tried until a time; the zero time ends that.
func (s *Store) intend(ctx context.Context, id string, until time.Time) error {
	return s.db.Put(ctx, dynamo.Rollouts, nil, intent{intentID(id), until}, dynamo.Condition{})
}

// notHalting returns a *dynamo.ConditionError while somebody is trying to halt the rollout. Every write of the rollout
// other than a halt must check it first.
func (s *Store) notHalting(ctx context.Context, id string) error {
	var i intent
	if _, err := s.db.Get(ctx, dynamo.Rollouts, dynamo.Key{"id": intentID(id)}, &i); err != nil {
		return err
	}
	if s.db.Now().Before(i.Until) {
		return &dynamo.ConditionError{Parts: []string{ResourceType}}
	}
	return nil
}

// halt halts a rollout. It does not read the freeze, so that it passes even if the freeze cannot be read. If the rollout
// was not active, or an earlier decision could not be written, it reads the channel's row, too: the two may disagree.
func (s *Store) halt(ctx context.Context, from audit.Origin, id string, m Move, when input.Preconditions) (now Rollout, err error) {
	var was Rollout
	var row release.ChannelRow
	readRow := func(ctx context.Context) (err error) {
		row, err = s.releases.Row(ctx, was.EdgeType, was.Channel)
		return err
	}
	again := false
	var until time.Time // of the intent
	err = change.Retry(ctx, s.db, from, func(set *change.Set) error {
		var read Rollout
		reads := []func(context.Context) error{func(ctx context.Context) (err error) {
			read, err = s.Get(ctx, id)
			return err
		}}
		if again {
			if now := s.db.Now(); !until.After(now.Add(intentTime / 2)) {
				until = now.Add(intentTime)
				if err := s.intend(ctx, id, until); err != nil {
					return err
				}
			}
			reads = append(reads, readRow) // of the channel that the first decision found
		}
		if err := dynamo.Together(ctx, reads...); err != nil {
			return err
		}
		was = read
		if err := when.Check(input.Revision(was.Revision)); err != nil {
			return err
		}
		next, event, err := was.After(m, Moment{By: from.Actor.Person(), At: set.After(was.UpdatedAt), Grounds: from.Grounds})
		switch {
		case err != nil:
			return err
		case was.ReturnedAt == nil && next.ReturnedAt != nil:
			again = true
			if err := cmp.Or(readRow(ctx), s.stillAt(ctx, was)); err != nil {
				return err
			}
			now, err = returned(set, was, next, event, row)
			return err
		case again:
			now = healed(set, was, next, event, row)
			return nil
		case was.Status != Active:
			err := readRow(ctx)
			now = healed(set, was, next, event, row)
			return err
		}
		again, now = true, next
		set.With(release.Carry(was.EdgeType, was.Channel, was.Carried(), next.Carried()))
		change.Record(set, Kind, was, next, event)
		return nil
	})
	if !until.IsZero() {
		_ = s.intend(ctx, id, time.Time{}) // otherwise it expires
	}
	return now, err
}

// stillAt returns a *dynamo.ConditionError if a rollout has changed since it was read: what was read after it must be of a
// moment at which the rollout was the same.
func (s *Store) stillAt(ctx context.Context, was Rollout) error {
	now, err := s.Get(ctx, was.ID)
	if err == nil && now.Revision != was.Revision {
		err = &dynamo.ConditionError{Parts: []string{ResourceType}}
	}
	return err
}

// healed records a halt, whatever revision of the rollout is in the channel's row, and makes the two agree. If they
// disagreed, the halt is a change even if the rollout was halted before: the row may have offered the target.
func healed(set *change.Set, was, next Rollout, event string, row release.ChannelRow) Rollout {
	if c := row.Rollout; c != nil && c.ID == was.ID && (event != "" || !dynamo.Same(*c, was.Carried())) {
		if event == "" {
			next, event = was.changed(was, set.After(was.UpdatedAt)), "RolloutHalted"
		}
		next = next.beyond(c.Revision)
		set.With(release.Carry(was.EdgeType, was.Channel, *c, next.Carried()))
	}
	if event != "" {
		change.Record(set, Kind, was, next, event)
	}
	return next
}

// returned records that a rollout is returned, also after a restore of one of the two tables.
func returned(set *change.Set, was, next Rollout, event string, row release.ChannelRow) (Rollout, error) {
	var carried *release.Carried
	switch c := row.Rollout; {
	case c != nil && c.ID == was.ID:
		next = next.beyond(c.Revision)
		carried = new(next.Carried())
	case c != nil && c.TargetVersion == was.TargetVersion:
		return was, problem.New(problem.InvalidStateTransition, "Rollout %s has brought version %s since; return that one.", c.ID, c.TargetVersion)
	case !row.Remembers(was.TargetVersion):
		return was, problem.New(problem.InvalidStateTransition,
			"Since the rollout, a version was published on its channel or adopted there, so no box is told %s because of the rollout.", was.TargetVersion)
	}
	change.Record(set, Kind, was, next, event)
	change.Record(set, release.Kind, row, row.Return(was.ID, was.TargetVersion, carried, next.Urgent, set.After(row.UpdatedAt)), "ReleaseReturned")
	return next, nil
}
