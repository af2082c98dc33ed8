package release

import (
	"context"
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// SaidType is the resource type, in the audit trail, of what is said of releases.
const SaidType = "release"

// SaidPartition has what is said of all releases, in the table of releases. No edge type is called so.
const SaidPartition = "#said"

// Limits of what is said of a release.
const (
	MostAdvisories = 32
	mostReplaced   = 16
)

// A Saying is what is known of a release besides its bytes. Unlike these, it may change.
type Saying struct {
	// SupportedUntil is when the support of the version ends; nil: nobody has said.
	SupportedUntil *time.Time `json:"supportedUntil,omitempty"`
	Documents      Documents  `json:"documents,omitempty"`
	// Replaced are documents that others took the place of, the latest first.
	Replaced Documents `json:"replaced,omitempty"`
	// Advisories are weaknesses that were found in the version, in the order in which they were said first.
	Advisories []Advisory `json:"advisories,omitempty"`
	// Contents are of one of the documents; nil: nobody has said.
	Contents *Contents `json:"contents,omitempty"`
}

// An Advisory says what a weakness means for a version.
type Advisory struct {
	ID       string `json:"id" stored:"identity"`
	Severity string `json:"severity"`
	FixedIn  string `json:"fixedIn,omitempty"` // a version; it need not be published yet
	// NotAffected is set if the weakness does not concern the version, for a reason.
	NotAffected bool   `json:"notAffected,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// Said is what is stored of a Saying.
type Said struct {
	Partition string `json:"edgeType"`
	ID        string `json:"version"` // the edge type, a slash and the version
	Saying
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // counts changes from 1; 0: nothing was said
	dynamo.Unknown
}

// Shown is it in the audit trail.
func (s Said) Shown() any {
	return struct {
		Saying
		UpdatedAt time.Time `json:"updatedAt"`
		Revision  int64     `json:"revision"`
	}{s.Saying, s.UpdatedAt, s.Revision}
}

// SaidKind describes it to the write path.
var SaidKind = change.Kind[Said]{
	Type: SaidType, Table: dynamo.Releases, Key: "edgeType",
	State: func(s Said) change.Stamp {
		return change.Stamp{ID: s.ID, Revision: s.Revision, ChangedAt: s.UpdatedAt}
	},
	Shown: Said.Shown,
}

// A SaidWish is what a caller says of a release. What it does not say stays.
type SaidWish struct {
	SupportedUntil *string // RFC 3339; empty: nobody says
	Documents      Documents
	Advisories     []Advisory // each replaces the one with its id
}

var (
	advisoryRule = &input.Text{Pattern: `[A-Za-z0-9][A-Za-z0-9._:-]{0,63}`, Says: "1 to 64 letters, digits, or any of . _ : -, the first a letter or digit"}
	severityRule = &input.Text{Pattern: `none|low|medium|high|critical`, Says: "none, low, medium, high or critical"}
)

// SaidWishOf reads what a body says of a release.
func SaidWishOf(body *input.Object) SaidWish {
	w := SaidWish{SupportedUntil: body.ClearableText("supportedUntil", input.Time), Documents: documentsOf(body)}
	body.OptionalObjects("advisories", 1, MostAdvisories, func(o *input.Object) {
		a := Advisory{ID: o.Text("id", advisoryRule), Severity: o.Text("severity", severityRule)}
		var fixed, why bool
		a.FixedIn, fixed = o.OptionalText("fixedIn", VersionRule)
		a.NotAffected = o.Boolean("notAffected")
		a.Reason, why = o.OptionalText("reason", audit.ReasonRule)
		switch {
		case a.NotAffected && fixed:
			o.Fault("fixedIn", "exclusive", "must not be given together with notAffected")
		case a.NotAffected && !why:
			o.Missing("reason")
		}
		w.Advisories = append(w.Advisories, a)
	})
	body.RequireAny("supportedUntil", "documents", "advisories")
	return w
}

// After is what is said after a wish. It returns CONFLICT for too many advisories.
func (s Said) After(n Named, w SaidWish, at time.Time) (next Said, event string, err error) {
	next = s
	if w.SupportedUntil != nil {
		if next.SupportedUntil = nil; *w.SupportedUntil != "" {
			next.SupportedUntil = new(input.ParseTime(*w.SupportedUntil).Truncate(time.Millisecond))
		}
	}
	if len(w.Documents) > 0 {
		next.Documents, next.Replaced = w.Documents, s.replaced(w.Documents)
		if c := s.Contents; c != nil && !next.Documents.list(c.SBOM) {
			next.Contents = nil
		}
	}
	next.Advisories = slices.Clone(s.Advisories)
	for _, a := range w.Advisories {
		if i := slices.IndexFunc(next.Advisories, func(b Advisory) bool { return a.ID == b.ID }); i >= 0 {
			next.Advisories[i] = a
		} else {
			next.Advisories = append(next.Advisories, a)
		}
	}
	switch {
	case len(next.Advisories) > MostAdvisories:
		return s, "", problem.New(problem.Conflict, "Version %s of %s would have more than %d advisories.", n.Version, n.EdgeType, MostAdvisories)
	case dynamo.Same(next.Saying, s.Saying):
		return s, "", nil
	}
	return next.said(n, at), described, nil
}

const described = "ReleaseDescribed" // the event

func (s Said) said(n Named, at time.Time) Said {
	s.Partition, s.ID, s.UpdatedAt = SaidPartition, Pair(n.EdgeType, n.Version), at
	s.Revision++
	return s
}

// replaced is what other documents leave of the present ones, before those that were replaced earlier.
func (s Said) replaced(by Documents) (list Documents) {
	for _, d := range slices.Concat(s.Documents, s.Replaced) {
		if !slices.Contains(by, d) && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list[:min(len(list), mostReplaced)]
}

// Kept lists the digests of the documents that the service keeps, also of those that were replaced.
func (s Saying) Kept() []string { return slices.Concat(s.Documents.Kept(), s.Replaced.Kept()) }

func saidKey(n Named) dynamo.Key {
	return dynamo.Key{"edgeType": SaidPartition, "version": Pair(n.EdgeType, n.Version)}
}

// Said returns what is said of a release; its Revision is 0 if nothing is.
func (s *Store) Said(ctx context.Context, n Named) (is Said, err error) {
	_, err = s.db.Get(ctx, dynamo.Releases, saidKey(n), &is)
	return is, err
}

// SaidOf returns what is said of the releases of an edge type, by their versions.
func (s *Store) SaidOf(ctx context.Context, edgeType string) (map[string]Saying, error) {
	all, prefix := map[string]Saying{}, edgeType+"/"
	of := dynamo.Selection{Table: dynamo.Releases, Partition: SaidPartition, Least: prefix, Most: prefix + "~"}
	err := dynamo.Walk(ctx, s.db, of, nil, 0, func(is Said) error {
		all[is.ID[len(prefix):]] = is.Saying
		return nil
	})
	return all, err
}
