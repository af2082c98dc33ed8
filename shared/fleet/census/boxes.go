package census

import (
	"context"
	"errors"
	"slices"
	"time"

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
	Attempts  int                `json:"attempts,omitempty"`
	Code      report.FailureCode `json:"code,omitempty"`
	Detail    string             `json:"detail,omitempty"`
	Until     *time.Time         `json:"until,omitempty"`
	// Cancelled is set if the box gave up the update because it was asked to.
	Cancelled bool `json:"cancelled,omitempty"`
	// Restless is set if nobody can tell what the box says.
	Restless *report.Restless `json:"restless,omitempty"`

	row report.Row
}

// A RolloutBoxes lists the boxes of a rollout at one state: all, or those of one organization.
type RolloutBoxes struct {
	of           report.Search
	store        *report.Store
	edges        *edge.Store
	organization string // empty: all
}

// OfState is a request for the boxes of a rollout at a state.
type OfState struct {
	RolloutID string
	State     report.State
}

// OfStateOf reads the path parameter id and the query parameter state.
func OfStateOf(in *input.Reader) OfState {
	return OfState{in.Path("id", input.UUID), report.State(in.RequiredQuery("state", report.StateRule))}
}

// Search finds the boxes of a rollout at a state that a caller may see. It returns NOT_FOUND, also for a rollout
// that does not concern the caller's organization.
func (s *Reader) Search(ctx context.Context, caller auth.Principal, id string, state report.State) (RolloutBoxes, error) {
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
		of:    report.Search{Pair: release.Pair(r.EdgeType, r.Channel), RolloutID: r.ID, Version: r.TargetVersion, State: state},
		store: s.reports, edges: edge.NewStore(s.db), organization: own,
	}, err
}

// IsPosition reports whether a text is a position in the list.
func (s RolloutBoxes) IsPosition(text string) bool {
	if s.organization != "" {
		return input.EdgeID.Accepts(text)
	}
	return s.store.IsPosition(s.of, text)
}

// Position is a box's position in the list.
func (s RolloutBoxes) Position(b Box) string {
	if s.organization != "" {
		return b.EdgeID
	}
	return s.store.Position(b.row)
}

const (
	// mostSought is how many boxes of the channel a page of an organization's boxes looks at, and soughtAtOnce those of one
	// request.
	mostSought   = 1000
	soughtAtOnce = 100
)

// own is a page of an organization's boxes, in the order of their ids. It reads no box of another organization, so neither
// the page nor its cost depends on them.
func (s RolloutBoxes) own(ctx context.Context, after string, limit int) (page dynamo.Page[report.Row], err error) {
	var ids []string
	err = s.edges.Each(ctx, s.organization, after, func(e edge.Edge) error {
		if e.Pair() == s.of.Pair {
			ids = append(ids, e.EdgeID)
		}
		if len(ids) > mostSought {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return page, err
	}
	more := len(ids) > mostSought
	for some := range slices.Chunk(ids[:min(len(ids), mostSought)], soughtAtOnce) {
		rows, err := s.store.GetAll(ctx, some)
		if err != nil {
			return page, err
		}
		for _, id := range some {
			row := rows[id]
			if o := row.Counted(); row.OrganizationID != s.organization || o.RolloutID != s.of.RolloutID || o.State != s.of.State {
				continue
			}
			if len(page.Items) == limit {
				page.More, page.Last = true, page.Items[limit-1].EdgeID
				return page, nil
			}
			page.Items = append(page.Items, row)
		}
	}
	if more {
		page.More, page.Last = true, ids[mostSought-1]
	}
	return page, nil
}

// Page returns a page of the list after a position, in a random order that stays the same; for an organization,
// in the order of the ids. It reads an index, so a
// change shows after a moment, usually within a second.
func (s RolloutBoxes) Page(ctx context.Context, after string, limit int) (dynamo.Page[Box], error) {
	find := func() (dynamo.Page[report.Row], error) { return s.store.Find(ctx, s.of, after, limit) }
	if s.organization != "" {
		find = func() (dynamo.Page[report.Row], error) { return s.own(ctx, after, limit) }
	}
	rows, err := find()
	page := dynamo.Page[Box]{More: rows.More, Last: rows.Last}
	for _, row := range rows.Items {
		o := row.Counted()
		page.Items = append(page.Items, Box{
			EdgeID: row.EdgeID, FactoryID: row.FactoryID, Stage: o.Stage, Version: o.Version, State: o.State, Since: o.Since,
			Running: row.Running, Attempts: o.Attempts, Code: o.Code, Detail: o.Detail, Until: o.Until, Cancelled: o.Cancelled, Restless: row.Restless, row: row,
		})
	}
	return page, err
}
