// Package edgetype has the settings of edge types: what holds for all boxes of a type, on each of its channels.
package edgetype

import (
	"context"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// ResourceType is the resource type of the settings in the audit trail.
const ResourceType = "edge-type"

// Settings are those of an edge type. A type without any has a Revision of 0.
type Settings struct {
	EdgeType string `json:"edgeType"`
	// VersionForm says which labels of boxes are good; empty: none.
	VersionForm report.Form `json:"versionForm,omitempty"`
	// VersionAttribute is the attribute by which a DDI client says what its box runs, if it does not say installed.
	VersionAttribute string `json:"versionAttribute,omitempty"`
	// OptOut is of which releases plants may opt out; empty: of all.
	OptOut    calendar.Scope `json:"optOut,omitempty"`
	UpdatedAt time.Time      `json:"updatedAt"`
	Revision  int64          `json:"revision"`
}

// A record is the settings as they are stored: in the table of releases, in a partition that has no release.
type record struct {
	Partition        string         `json:"edgeType"`
	EdgeType         string         `json:"version"`
	VersionForm      report.Form    `json:"versionForm,omitempty"`
	VersionAttribute string         `json:"versionAttribute,omitempty"`
	OptOut           calendar.Scope `json:"optOut,omitempty"`
	UpdatedAt        time.Time      `json:"updatedAt"`
	Revision         int64          `json:"revision"`
	dynamo.Unknown
}

// Partition is the partition of all settings. No edge type has this name.
const Partition = "#types"

func key(edgeType string) dynamo.Key {
	return dynamo.Key{"edgeType": Partition, "version": edgeType}
}

func (r record) settings() Settings {
	return Settings{r.EdgeType, r.VersionForm, r.VersionAttribute, r.OptOut, r.UpdatedAt, r.Revision}
}

var kind = change.Kind[record]{
	Type: ResourceType, Table: dynamo.Releases, Key: "edgeType",
	State: func(r record) change.Stamp {
		return change.Stamp{ID: r.EdgeType, Revision: r.Revision, ChangedAt: r.UpdatedAt}
	},
	Shown: func(r record) any { return r.settings() },
}

// A Wish is what a caller asks for. What is nil stays, and what is empty ends.
type Wish struct {
	VersionForm      *report.Form
	VersionAttribute *string
	OptOut           *calendar.Scope
}

// set is the settings after a wish.
func (r record) set(edgeType string, w Wish, at time.Time) (next record, event string, err error) {
	next = r
	if w.VersionForm != nil {
		next.VersionForm = *w.VersionForm
	}
	if w.VersionAttribute != nil {
		next.VersionAttribute = *w.VersionAttribute
	}
	if w.OptOut != nil {
		next.OptOut = *w.OptOut
	}
	if r.Revision > 0 && dynamo.Same(next, r) {
		return r, "", nil
	}
	next.Partition, next.EdgeType, next.UpdatedAt = Partition, edgeType, at
	next.Revision++
	return next, "EdgeTypeChanged", nil
}

// A Store stores the settings.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

// Read returns the settings of an edge type. A type that has none gets those that hold then.
func (s *Store) Read(ctx context.Context, edgeType string) (Settings, error) {
	var r record
	_, err := s.db.Get(ctx, dynamo.Releases, key(edgeType), &r)
	return r.settings(), err
}

// Get returns the settings of an edge type, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, edgeType string) (Settings, error) {
	is, err := s.Read(ctx, edgeType)
	if err == nil && is.Revision == 0 {
		err = problem.Missing()
	}
	return is, err
}

// Set sets the settings of an edge type, and reports whether it had none. It returns PRECONDITION_FAILED.
func (s *Store) Set(ctx context.Context, from audit.Origin, edgeType string, w Wish, when input.Preconditions) (created bool, err error) {
	return change.Put(ctx, s.db, from, kind, key(edgeType), when, func(was record, at time.Time) (record, string, error) {
		return was.set(edgeType, w, at)
	})
}

// Of reads the edge type in the path.
func Of(in *input.Reader) string { return in.Path("edgeType", input.Name) }

// WishOf reads the settings.
func WishOf(body *input.Object) Wish {
	w := Wish{VersionAttribute: body.ClearableText("versionAttribute", report.AttributeName)}
	if text, given := body.OptionalText("versionForm", report.FormRule); given {
		form := report.Form(text)
		if text == report.Exact {
			form = ""
		}
		w.VersionForm = &form
	}
	if allowed, given := body.OptionalText("optOut", calendar.AllowedRule); given {
		w.OptOut = new(calendar.Scope(allowed))
		if *w.OptOut == calendar.OfAll {
			*w.OptOut = ""
		}
	}
	return w
}
