package census

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// A Box is a box in one of the states with what a rollout offered it.
type Box struct {
	EdgeID    string             `json:"edgeId"`
	FactoryID string             `json:"factoryId,omitempty"`
	Stage     int                `json:"stage"` // the first stage, in percent, that reaches it
	Version   string             `json:"version"`
	State     report.State       `json:"state"`
	Since     time.Time          `json:"since"`
	Running   string             `json:"running,omitempty"` // what it last said it runs
	Label     string             `json:"label,omitempty"`   // its words for that; see report.Form
	Attempts  int                `json:"attempts,omitempty"`
	Code      report.FailureCode `json:"code,omitempty"`
	Detail    string             `json:"detail,omitempty"`
	Until     *time.Time         `json:"until,omitempty"`
	// Cancelled is set if the box gave up the update because it was asked to.
	Cancelled bool `json:"cancelled,omitempty"`
	// Restless is set if nobody can tell what the box says.
	Restless *report.Restless `json:"restless,omitempty"`
	// LastSeenAt is when the box made its last call; only of silent boxes.
	LastSeenAt *time.Time `json:"lastSeenAt,omitempty"`

	row report.Row
}

// A RolloutBoxes lists the boxes of a rollout at one state: all, or those of one organization.
type RolloutBoxes struct {
	of           report.Search
	rollout      rollout.Rollout
	counts       *Store
	store        *report.Store
	edges        *edge.Store
	organization string // empty: all
}

// OfState is a request for the boxes of a rollout at a state.
type OfState struct {
	RolloutID string
	State     report.State
}

// silent lists the boxes that a count calls silent. No box reports it.
const silent report.State = "silent"

var listRule = &input.Text{Pattern: report.StateRule.Pattern + "|silent", Says: "offered, working, deferred, installed, failed, reverted or silent"}

// OfStateOf reads the path parameter id and the query parameter state.
func OfStateOf(in *input.Reader) OfState {
	return OfState{in.Path("id", input.UUID), report.State(in.RequiredQuery("state", listRule))}
}

// Search finds the boxes of a rollout at a state that a caller may see. It returns NOT_FOUND, also for a rollout
// that does not concern the caller's organization.
func (s *Store) Search(ctx context.Context, caller auth.Principal, id string, state report.State) (RolloutBoxes, error) {
	own := caller.Only()
	read := s.rollouts.Find
	if !caller.SeesAll() {
		read = func(ctx context.Context, id string) (rollout.Rollout, bool, error) { return s.rolloutOf(ctx, own, id) }
	}
	r, found, err := read(ctx, id)
	if err == nil && !found {
		err = problem.Missing()
	}
	return RolloutBoxes{
		of:      report.Search{Pair: release.Pair(r.EdgeType, r.Channel), RolloutID: r.ID, Version: r.TargetVersion, State: state},
		rollout: r, counts: s, store: s.reports, edges: edge.NewStore(s.db), organization: own,
	}, err
}

// IsPosition reports whether a text is a position in the list.
func (s RolloutBoxes) IsPosition(text string) bool {
	if s.byID() {
		return input.EdgeID.Accepts(text)
	}
	return s.store.IsPosition(s.of, text)
}

// Position is a box's position in the list.
func (s RolloutBoxes) Position(b Box) string {
	if s.byID() {
		return b.EdgeID
	}
	return s.store.Position(b.row)
}

// byID reports whether the list is in the order of the ids.
func (s RolloutBoxes) byID() bool { return s.organization != "" || s.of.State == silent }

const (
	// mostSought is how many boxes of the channel a page of an organization's boxes looks at, and soughtAtOnce those of one
	// request.
	mostSought   = 1000
	soughtAtOnce = 100
)

// own are the next of an organization's boxes on the channel, in the order of their ids. It reads no box of another
// organization, so neither a page nor its cost depends on them.
func (s RolloutBoxes) own(ctx context.Context, after string) (ids []string, err error) {
	err = s.edges.Each(ctx, s.organization, after, func(e edge.Edge) error {
		if e.Pair() == s.of.Pair {
			ids = append(ids, e.EdgeID)
		}
		if len(ids) > mostSought {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return ids, err
}

// awaited are the next boxes that a count looks up, in the order of their ids.
func (s RolloutBoxes) awaited(ctx context.Context, after string) (ids []string, err error) {
	c, err := s.counts.census(ctx, s.rollout, s.counts.db.Now())
	if err != nil {
		return nil, err
	}
	for _, e := range c.Awaited.Chosen() {
		if e.EdgeID > after {
			ids = append(ids, e.EdgeID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// among is a page of those boxes that are in the list. It looks at mostSought of them.
func (s RolloutBoxes) among(ctx context.Context, ids []string, limit int) (page dynamo.Page[Box], err error) {
	for some := range slices.Chunk(ids[:min(len(ids), mostSought)], soughtAtOnce) {
		rows, err := s.store.GetAll(ctx, some)
		if err != nil {
			return page, err
		}
		seen, err := s.seen(ctx, rows)
		if err != nil {
			return page, err
		}
		for _, id := range some {
			if !s.includes(rows[id], seen[id]) {
				continue
			}
			if len(page.Items) == limit {
				page.More, page.Last = true, page.Items[limit-1].EdgeID
				return page, nil
			}
			page.Items = append(page.Items, box(rows[id], seen[id]))
		}
	}
	if len(ids) > mostSought {
		page.More, page.Last = true, ids[mostSought-1]
	}
	return page, nil
}

// includes reports whether a box that was last seen at a time is in the list.
func (s RolloutBoxes) includes(row report.Row, seen time.Time) bool {
	o := row.Counted()
	if o.RolloutID != s.of.RolloutID || s.organization != "" && row.OrganizationID != s.organization {
		return false
	}
	if s.of.State == silent {
		now := s.counts.db.Now()
		return o.Silent(seen, now, s.counts.silentAfter(s.rollout, now))
	}
	return o.State == s.of.State
}

// seen looks up when boxes were last seen, if the list is of silent ones. A box that cannot be read in time is unknown.
func (s RolloutBoxes) seen(ctx context.Context, rows map[string]report.Row) (map[string]time.Time, error) {
	seen := map[string]time.Time{}
	if s.of.State != silent {
		return seen, nil
	}
	inTime, cancel := context.WithTimeout(ctx, forSightings)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(atOnce)
	var mu sync.Mutex
	for id, row := range rows {
		if o := row.Counted(); o.RolloutID != s.of.RolloutID || !o.Awaited() || row.Subject == "" {
			continue
		}
		group.Go(func() error {
			if at, err := s.counts.seen(inTime, row.Subject); err == nil {
				mu.Lock()
				defer mu.Unlock()
				seen[id] = at
			}
			return nil
		})
	}
	_ = group.Wait() // no lookup fails
	return seen, ctx.Err()
}

func box(row report.Row, seen time.Time) Box {
	o := row.Counted()
	b := Box{
		EdgeID: row.EdgeID, FactoryID: row.FactoryID, Stage: o.Stage, Version: o.Version, State: o.State, Since: o.Since,
		Running: row.Running, Label: row.Label, Attempts: o.Attempts, Code: o.Code, Detail: o.Detail, Until: o.Until, Cancelled: o.Cancelled, Restless: row.Restless, row: row,
	}
	if !seen.IsZero() {
		b.LastSeenAt = &seen
	}
	return b
}

// Page returns a page of the list after a position, in a random order that stays the same; silent boxes, and those of an
// organization, in the order of the ids. It reads an index, so a change shows after a moment, usually within a second.
func (s RolloutBoxes) Page(ctx context.Context, after string, limit int) (page dynamo.Page[Box], err error) {
	if s.byID() {
		next := s.awaited
		if s.organization != "" {
			next = s.own
		}
		ids, err := next(ctx, after)
		if err != nil {
			return page, err
		}
		return s.among(ctx, ids, limit)
	}
	rows, err := s.store.Find(ctx, s.of, after, limit)
	page.More, page.Last = rows.More, rows.Last
	for _, row := range rows.Items {
		page.Items = append(page.Items, box(row, time.Time{}))
	}
	return page, err
}
