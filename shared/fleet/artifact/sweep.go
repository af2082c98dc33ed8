package artifact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

const (
	// mostSwept limits the artifacts of one sweep, and sweepFor its time: the counts of rollouts matter more.
	mostSwept = 10
	sweepFor  = 20 * time.Second
)

// Sweep removes artifacts that waited for too long, and those that were deleted a week ago and that nothing uses. It may be
// killed at any point, and repeated: first a transaction decides that an artifact goes, which nothing undoes, then its bytes
// go, and then it can be asked for again. all is set if nothing that is due is left.
func (s *Store) Sweep(ctx context.Context, from audit.Origin, uses Uses) (all bool, err error) {
	if s.bucket.store == "" {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, sweepFor)
	defer cancel()
	var due []Row
	err = dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.Releases, Partition: Partition, Eventually: true}, nil, 0, func(r Row) error {
		if r.Due(s.db.Now()) {
			due = append(due, r)
		}
		return nil
	})
	faults := []error{err}
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] }) // so that those that fail do not keep the others waiting
	for _, r := range due[:min(len(due), mostSwept)] {
		if err := s.sweep(ctx, from, r.name(), uses); err != nil {
			faults = append(faults, fmt.Errorf("artifact: remove %s: %w", r.ID, err))
		}
	}
	err = errors.Join(faults...)
	return err == nil && len(due) <= mostSwept, err
}

func (s *Store) sweep(ctx context.Context, from audit.Origin, n Name, uses Uses) error {
	var now Row
	err := change.Make(ctx, s.db, from, func(set *change.Set) error {
		was, err := s.Row(ctx, n)
		if now = was; err != nil || was.Removing {
			return err
		}
		used, err := uses(ctx, n, was.OverClaims)
		if err != nil {
			return err
		}
		next, event := was.sweep(len(used) > 0, set.After(was.UpdatedAt))
		if now = next; event != "" {
			change.Record(set, Kind, was, next, event)
		}
		return nil
	})
	if err != nil || !now.Removing {
		return err
	}
	if err := s.bucket.Remove(ctx, now); err != nil {
		return err
	}
	return s.db.Commit(ctx, dynamo.TransactPatch(ResourceType, dynamo.Releases, key(n), struct {
		Removing bool `json:"removing,omitempty"`
	}{}, unchanged(now)))
}
