package progress

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wavegate/shared/fleet/rollout"
)

// A Tally is what became of a tick.
type Tally struct {
	// Active is how many rollouts are active, and Counted how many of them were counted now.
	Active, Counted int
	// Oldest is the age of the oldest count of an active rollout when the tick ended; 0 without rollouts.
	// A rollout that was never counted is as old as its start.
	Oldest time.Duration
}

// Tick counts the active rollouts, the one with the oldest count first, until the context ends. It may be
// lost, come twice or die at any point: what it counts is counted by the next one, and a count that is
// there already is not made again. The error joins what went wrong; the other rollouts are counted.
func (s *Store) Tick(ctx context.Context) (Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	var active []Candidate
	var faults []error
	counted := map[string]time.Time{}
	err := s.rollouts.EachActive(ctx, func(r rollout.Rollout) error {
		h, err := readHead[Progress](ctx, s, r.ID, partLatest)
		if err != nil {
			faults = append(faults, fmt.Errorf("progress: rollout %s: %w", r.ID, err))
			return nil
		}
		counted[r.ID] = h.AsOf
		if h.AsOf.IsZero() {
			counted[r.ID] = r.StartedAt
		}
		active = append(active, Candidate{r, h.Begun})
		return nil
	})
	if err != nil {
		return Tally{}, fmt.Errorf("progress: list active rollouts: %w", err)
	}
	tally := Tally{Active: len(active)}
	for _, c := range Plan(active, s.db.Now()) {
		if ctx.Err() != nil {
			faults = append(faults, fmt.Errorf("progress: out of time before rollout %s", c.ID))
			break
		}
		p, err := s.ofRollout(ctx, c.ID, partLatest, recent)
		if errors.Is(err, errCounting) {
			continue // by a tick that came twice, or for a caller
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("progress: rollout %s: %w", c.ID, err))
			continue
		}
		counted[c.ID] = p.AsOf
		tally.Counted++
	}
	now := s.db.Now()
	for _, c := range active {
		tally.Oldest = max(tally.Oldest, now.Sub(counted[c.ID]))
	}
	return tally, errors.Join(faults...)
}
