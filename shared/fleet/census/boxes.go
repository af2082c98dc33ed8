package census

import (
	"context"
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
}

// A RolloutBoxes lists the boxes of a rollout at one state: all, or those of one organization.
type RolloutBoxes struct {
	of           report.Search
	rollout      rollout.Rollout
	counts       *Store
	store        *report.Store
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
		rollout: r, counts: s, store: s.reports, organization: own,
	}, err
}

// IsPosition reports whether a text is a position in the list.
func (s RolloutBoxes) IsPosition(text string) bool {
	if s.byID() {
		return input.EdgeID.Accepts(text)
	}
	return s.store.IsPosition(s.of, text)
}

// byID reports whether the list is in the order of the ids.
func (s RolloutBoxes) byID() bool { return s.organization != "" || s.of.State == silent }

// soughtAtOnce is how many boxes are looked at together.
const soughtAtOnce = 100

// own looks for boxes of the organization, in the order of their ids. It reads no box of another organization, so neither a
// page nor its cost depends on them.
func (s RolloutBoxes) own(ctx context.Context, w dynamo.Span) (dynamo.Page[Box], error) {
	search := dynamo.NewSearch[Box](s.counts.db, w, dynamo.MostLooked)
	_, err := dynamo.Look(ctx, search, edge.OfOrganization(s.organization), w.After, soughtAtOnce, "", false, func(ctx context.Context, all []edge.Edge) ([]*Box, error) {
		ids := make([]string, len(all))
		for i, e := range all {
			if e.Pair() == s.of.Pair {
				ids[i] = e.EdgeID
			}
		}
		return s.among(ctx, ids)
	})
	return search.Page(), err
}

// awaited looks for boxes that a count looks up, in the order of their ids.
func (s RolloutBoxes) awaited(ctx context.Context, w dynamo.Span) (dynamo.Page[Box], error) {
	search := dynamo.NewSearch[Box](s.counts.db, w, dynamo.MostLooked)
	c, err := s.counts.census(ctx, s.rollout, s.counts.db.Now())
	if err != nil {
		return search.Page(), err
	}
	var ids []string
	for _, e := range c.Awaited.Chosen() {
		if e.EdgeID > w.After {
			ids = append(ids, e.EdgeID)
		}
	}
	slices.Sort(ids)
	for len(ids) > 0 {
		some := ids[:min(len(ids), soughtAtOnce)]
		ids = ids[len(some):]
		shown, err := s.among(ctx, some)
		if err != nil || search.Take(some, shown, len(ids) > 0) {
			return search.Page(), err
		}
	}
	return search.Page(), nil
}

// among shows those of some boxes that are in the list; an empty id is no box.
func (s RolloutBoxes) among(ctx context.Context, ids []string) ([]*Box, error) {
	rows, err := s.store.GetAll(ctx, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" }))
	if err != nil {
		return nil, err
	}
	seen, err := s.seen(ctx, rows)
	shown := make([]*Box, len(ids))
	for i, id := range ids {
		if row := rows[id]; s.includes(row, seen[id]) {
			b := box(row, seen[id])
			shown[i] = &b
		}
	}
	return shown, err
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
		Running: row.Running, Label: row.Label, Attempts: o.Attempts, Code: o.Code, Detail: o.Detail, Until: o.Until, Cancelled: o.Cancelled, Restless: row.Restless,
	}
	if !seen.IsZero() {
		b.LastSeenAt = &seen
	}
	return b
}

// Page returns a page of the list, in a random order that stays the same; silent boxes, and those of an organization, in the
// order of the ids. It reads an index, so a change shows after a moment, usually within a second.
func (s RolloutBoxes) Page(ctx context.Context, w dynamo.Span) (page dynamo.Page[Box], err error) {
	switch {
	case s.organization != "":
		return s.own(ctx, w)
	case s.of.State == silent:
		return s.awaited(ctx, w)
	}
	rows, err := s.store.Find(ctx, s.of, w)
	page.More, page.Last, page.Skip = rows.More, rows.Last, rows.Skip
	for _, row := range rows.Items {
		page.Items = append(page.Items, box(row, time.Time{}))
	}
	return page, err
}
