package edge

import (
	"context"

	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// ResourceType is the resource type of boxes in the audit trail.
const ResourceType = audit.Boxes

// A Store reads boxes.
type Store struct {
	db      *dynamo.DB
	reports *report.Store // only to read rows by their boxes, for which the number of shards does not matter
	waits   func() Waits
}

// NewStore makes a store that lists no box as waiting; see Waiting.
func NewStore(db *dynamo.DB) *Store {
	return &Store{db, report.NewStore(db, 0), func() Waits { return nobody }}
}

// Waiting returns the store, which lists waiting boxes from then on; waits is called for each page.
func (s *Store) Waiting(waits func() Waits) *Store {
	s.waits = waits
	return s
}

// edgeItem is a box with the index keys for the list of its channel, for that of all boxes and for those of its type.
type edgeItem struct {
	Edge
	Pair  string `json:"pair"`
	List  string `json:"list,omitempty"`
	Place string `json:"place,omitempty"`
}

// place is where a box lies among those of its type: pinned ones are before all others.
func (e Edge) place() string {
	if e.Pin != nil {
		return pinned + e.EdgeID
	}
	return e.Channel + "/" + e.EdgeID
}

// pinned begins the place of pinned boxes. No channel is called so.
const pinned = "#"

// listAll is the one partition of the list of all boxes.
const listAll = "edge"

var kind = change.Kind[Edge]{
	Type: ResourceType, Table: dynamo.Edges, Key: "edgeId", Leaves: "EdgeLeft",
	State: func(e Edge) change.Stamp {
		s := change.Stamp{ID: e.EdgeID, Revision: e.Revision, ChangedAt: e.UpdatedAt, Stream: audit.Box(e.EdgeID), Organization: e.OrganizationID}
		if e.retired() {
			s.Organization = ""
		}
		if e.GuessedAt != nil && e.GuessedAt.After(s.ChangedAt) {
			s.ChangedAt = *e.GuessedAt
		}
		return s
	},
	Item: func(e Edge) any {
		if e.retired() {
			return edgeItem{e, nowhere, "", ""}
		}
		return edgeItem{e, e.Pair(), listAll, e.place()}
	},
	Shown: func(e Edge) any {
		if e.retired() {
			return nil
		}
		return e
	},
	ETag: func(e Edge, _ time.Time) string {
		if e.retired() {
			return ""
		}
		return input.Revision(e.Revision)
	},
}

func key(id string) dynamo.Key { return dynamo.Key{"edgeId": id} }

// Get returns a box, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, id string) (Edge, error) {
	var e Edge
	_, err := s.db.Get(ctx, dynamo.Edges, key(id), &e)
	if err == nil && !e.Exists() {
		err = problem.Missing()
	}
	return e, err
}

// A Shown is a box with what it says itself, and whether it is restless or calls too often.
type Shown struct {
	Edge
	Said     map[string]string `json:"saidAttributes,omitempty"`
	Running  string            `json:"running,omitempty"` // the version that it last said it runs
	Assumed  bool              `json:"assumed,omitempty"` // only because somebody said so
	Stay     *report.Stay      `json:"stay,omitempty"`    // since when it says so
	Label    string            `json:"label,omitempty"`   // its words for that; see report.Form
	Pending  *report.Pending   `json:"pending,omitempty"` // what it was told and does not run
	State    string            `json:"state,omitempty"`   // of its last offer
	Restless *report.Restless  `json:"restless,omitempty"`
	Frequent *report.Frequent  `json:"frequent,omitempty"`
	// Waits is for what the box waits, and OpensAt until when if that is known; only in lists of waiting boxes.
	Waits   string     `json:"waits,omitempty"`
	OpensAt *time.Time `json:"opensAt,omitempty"`
}

// Show returns a box that the caller may see and what it says, or NOT_FOUND.
func (s *Store) Show(ctx context.Context, caller auth.Principal, id string) (shown Shown, err error) {
	var row report.Row
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) { shown.Edge, err = s.Get(ctx, id); return err },
		func(ctx context.Context) (err error) { row, err = s.reports.GetEventually(ctx, id); return err })
	if err == nil && !caller.MaySee(shown.OrganizationID) {
		return Shown{}, problem.Missing()
	}
	return shown.with(row), err
}

// with adds what the box's row has. After a move to another organization, the two may not be of one time.
func (e Edge) with(row report.Row) Shown {
	if row.OrganizationID != e.OrganizationID {
		return Shown{Edge: e}
	}
	shown := Shown{Edge: e, Said: row.Said, Running: row.Running, Assumed: row.Assumed, Label: row.Label, Stay: row.Stay, Pending: row.Pending(), Restless: row.Restless, Frequent: row.Often()}
	if row.Offer != nil {
		shown.State = string(row.Offer.State)
	}
	return shown
}

// GetAll returns some boxes as stored, including retired ones. It skips ids without a stored box.
func (s *Store) GetAll(ctx context.Context, ids []string) ([]Edge, error) {
	keys := make([]dynamo.Key, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	return dynamo.GetAll[Edge](ctx, s.db, dynamo.Edges, keys)
}
