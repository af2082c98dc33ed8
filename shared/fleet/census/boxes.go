package census

import (
	"context"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
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

// A RolloutBoxes lists the boxes of a rollout at one state.
type RolloutBoxes struct {
	of    report.Search
	store *report.Store
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

// Search finds the boxes of a rollout at a state. It returns NOT_FOUND.
func (s *Reader) Search(ctx context.Context, id string, state report.State) (RolloutBoxes, error) {
	r, err := s.rollouts.Get(ctx, id)
	return RolloutBoxes{
		of:    report.Search{Pair: release.Pair(r.EdgeType, r.Channel), RolloutID: r.ID, Version: r.TargetVersion, State: state},
		store: s.reports,
	}, err
}

// IsPosition reports whether a text is a position in the list.
func (s RolloutBoxes) IsPosition(text string) bool { return s.store.IsPosition(s.of, text) }

// Position is a box's position in the list.
func (s RolloutBoxes) Position(b Box) string { return s.store.Position(b.row) }

// Page returns a page of the list after a position, in a random order that stays the same. It reads an index, so a
// change shows after a moment, usually within a second.
func (s RolloutBoxes) Page(ctx context.Context, after string, limit int) (dynamo.Page[Box], error) {
	rows, err := s.store.Find(ctx, s.of, after, limit)
	page := dynamo.Page[Box]{More: rows.More}
	for _, row := range rows.Items {
		o := row.Counted()
		page.Items = append(page.Items, Box{
			EdgeID: row.EdgeID, FactoryID: row.FactoryID, Stage: o.Stage, Version: o.Version, State: o.State, Since: o.Since,
			Running: row.Running, Attempts: o.Attempts, Code: o.Code, Detail: o.Detail, Until: o.Until, Cancelled: o.Cancelled, Restless: row.Restless, row: row,
		})
	}
	return page, err
}
