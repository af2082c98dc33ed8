package census

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/trail/audit"
)

// A Tally is the result of a tick.
type Tally struct {
	// Active is how many rollouts are active, and Counted how many of these were counted now.
	Active, Counted int
	// Oldest is the age of the oldest count of an active rollout when the tick ended; 0 without rollouts.
	// A rollout that was never counted is as old as its start.
	Oldest time.Duration
	// OldestVerdict is the age of the oldest verdict on an active rollout that has a policy; 0 without such.
	OldestVerdict time.Duration
	// Verdicts counts such rollouts by verdict, and Acted is how many of them the guard moved now.
	Verdicts map[guard.Action]int
	Acted    int
	// Listed is set if the active rollouts could be listed. Otherwise nothing is known about them.
	Listed bool
	// Unreadable counts the rollouts that could not be read, and the unreadable boxes of counted ones. The others were
	// counted, judged and moved.
	Unreadable Unreadable
	// Paging is how many rollouts at 100 percent, or completed since, seem to go bad.
	Paging int
	// NeedPerson is how many wait for a person who may not know.
	NeedPerson int
}

// Unreadable counts items that cannot be read.
type Unreadable struct {
	Items  int
	Causes []error // the first ones
}

// mostCauses limits the causes that are kept.
const mostCauses = 10

func (u *Unreadable) add(cause error) {
	u.Items++
	if len(u.Causes) < mostCauses {
		u.Causes = append(u.Causes, cause)
	}
}

// merge adds the unreadable items of another part.
func (u *Unreadable) merge(other Unreadable) {
	u.Items += other.Items
	u.Causes = append(u.Causes, other.Causes[:min(len(other.Causes), mostCauses-len(u.Causes))]...)
}

// forMoves is the part of a tick's time that is reserved for the guard's moves.
const forMoves = 15 * time.Second

// Tick counts rollouts, the one with the oldest count first, until the context ends: the active ones, and those that
// completed less than a soak ago. The guard judges and moves the active ones with a policy, and reports if a completed
// release goes bad. The origin is the guard's, for the audit trail.
//
// A tick may be lost, repeated or killed at any point. The next one makes up for it. A recent count is not repeated,
// and a move is made only on the revision of the rollout that was judged; see act for halts. The error joins all
// failures except unreadable items. A failure of one rollout does not stop the others.
func (s *Store) Tick(ctx context.Context, from audit.Origin) (Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	active, unreadable, err := s.candidates(ctx)
	if err != nil {
		return Tally{}, fmt.Errorf("census: list active rollouts: %w", err)
	}
	tally := Tally{Active: len(active) + unreadable.Items, Verdicts: map[guard.Action]int{}, Listed: true, Unreadable: unreadable}
	completed, faults := s.completed(ctx)
	latest, failed := s.countAll(ctx, slices.Concat(active, completed), &tally)
	faults = append(faults, failed...)
	for _, c := range active {
		c.Last = cmp.Or(latest[c.ID], c.Last)
		acted, err := s.act(ctx, from, c)
		if err != nil {
			faults = append(faults, fmt.Errorf("census: guard rollout %s: %w", c.ID, err))
		}
		tally.add(c, acted, s.db.Now())
	}
	for _, c := range slices.Concat(active, completed) { // after all moves: a halt does not wait for a warning
		last := latest[c.ID]
		if c.Status == rollout.Completed {
			if last = cmp.Or(last, c.Last); last == nil || last.Guard == nil || !last.Guard.Pages {
				continue
			}
			tally.Paging++
		}
		if err := s.warn(ctx, from, c.Rollout, last); err != nil {
			faults = append(faults, fmt.Errorf("census: warn of rollout %s: %w", c.ID, err))
		}
	}
	return tally, errors.Join(faults...)
}

// rolloutsAtOnce is how many rollouts a tick counts at the same time. Most of a count is waiting for the store.
const rolloutsAtOnce = 4

// countAll counts those that are due, while there is time left for the guard's moves.
func (s *Store) countAll(ctx context.Context, all []Candidate, tally *Tally) (latest map[string]*Progress, faults []error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline-forMoves)
	defer cancel()
	latest = map[string]*Progress{}
	var group errgroup.Group
	group.SetLimit(rolloutsAtOnce)
	var mu sync.Mutex
	for _, c := range Plan(all, s.db.Now(), s.settings.recent()) {
		if ctx.Err() != nil {
			mu.Lock()
			faults = append(faults, fmt.Errorf("census: out of time before rollout %s", c.ID))
			mu.Unlock()
			break
		}
		group.Go(func() error {
			p, err := s.ofRollout(ctx, c.ID, partLatest, s.countByTick, c.recent(s.settings.recent()))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, errCounting): // by a repeated tick
			case err != nil:
				faults = append(faults, fmt.Errorf("census: rollout %s: %w", c.ID, err))
			default:
				latest[c.ID] = &p
				if c.Status == rollout.Active {
					tally.Counted++
					tally.Unreadable.merge(p.unreadable)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // faults are collected
	return latest, faults
}

// How often a completed rollout is counted, and how many of those that started last are checked.
const (
	watchAge    = 10 * time.Minute
	mostWatched = 50
)

// completed lists the completed rollouts that the guard still checks. It cannot move them.
func (s *Store) completed(ctx context.Context) (all []Candidate, faults []error) {
	page, err := s.rollouts.List(ctx, rollout.Filter{Status: rollout.Completed}, dynamo.Span{Limit: mostWatched})
	if err != nil {
		return nil, []error{fmt.Errorf("census: list completed rollouts: %w", err)}
	}
	for _, r := range page.Items {
		if !watched(r, s.db.Now()) {
			continue
		}
		h, err := readHead[Progress](ctx, s.db, r.ID, partLatest)
		if err != nil {
			faults = append(faults, fmt.Errorf("census: completed rollout %s: %w", r.ID, err))
			continue
		}
		all = append(all, Candidate{r, h.Begun, h.Answer})
	}
	return all, faults
}

// watched reports whether the guard still checks a completed rollout: everybody has its target, for less than the last
// stage's soak.
func watched(r rollout.Rollout, now time.Time) bool {
	return r.Adopted && r.Terms != nil && r.CompletedAt != nil && now.Sub(*r.CompletedAt) < r.Terms.Policy.SoakAt(r.StagedPercent)
}

// candidates lists the active rollouts, and those that cannot be read.
func (s *Store) candidates(ctx context.Context) (active []Candidate, left Unreadable, err error) {
	unreadable := func(id string, err error) { left.add(fmt.Errorf("census: rollout %s: %w", id, err)) }
	err = s.rollouts.EachActive(ctx, func(r rollout.Rollout) {
		h, err := readHead[Progress](ctx, s.db, r.ID, partLatest)
		if err != nil {
			unreadable(r.ID, err)
			return
		}
		active = append(active, Candidate{r, h.Begun, h.Answer})
	}, unreadable)
	return active, left, err
}

// add adds the result for one rollout.
func (t *Tally) add(c Candidate, acted bool, now time.Time) {
	counted, judged := c.StartedAt, c.StageSince
	if c.Last != nil {
		counted = c.Last.AsOf
	}
	t.Oldest = max(t.Oldest, now.Sub(counted))
	if c.Terms == nil {
		return
	}
	if c.Last != nil && c.Last.Guard != nil {
		judged = c.Last.AsOf
		t.Verdicts[c.Last.Guard.Action]++
		if c.Last.Guard.Needs.Alarms() {
			t.NeedPerson++
		}
		if c.Last.Guard.Pages {
			t.Paging++
		}
	}
	t.OldestVerdict = max(t.OldestVerdict, now.Sub(judged))
	if acted {
		t.Acted++
	}
}

// errCounting means that the first count is under way.
var errCounting = errors.New("census: the first count is under way")
