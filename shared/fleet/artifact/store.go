package artifact

import (
	"context"
	"slices"
	"strings"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/program"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// ResourceType is the resource type of artifacts in the audit trail.
const ResourceType = "artifact"

// Partition has all artifacts. No edge type is called so.
const Partition = "#artifacts"

func id(n Name) string { return n.EdgeType + "/" + n.SHA256 }

func key(n Name) dynamo.Key { return dynamo.Key{"edgeType": Partition, "version": id(n)} }

// Kind describes artifacts to the write path. A row with another key is another artifact, whatever its revision.
var Kind = change.Kind[Row]{
	Type: ResourceType, Table: dynamo.Releases, Key: "edgeType",
	State: func(r Row) change.Stamp {
		return change.Stamp{ID: r.ID, Revision: r.Revision, ChangedAt: r.UpdatedAt}
	},
	Shown:     func(r Row) any { return r.Artifact() },
	Unchanged: unchanged,
}

func unchanged(r Row) dynamo.Condition {
	if r.Revision == 0 {
		return dynamo.Absent("edgeType")
	}
	return dynamo.AtRevision("edgeType", r.Revision).And(dynamo.Condition{
		Expr: "#key = :key AND #uses = :uses", Values: map[string]any{":key": r.Key, ":uses": r.Uses}})
}

// A Store stores artifacts.
type Store struct {
	db     *dynamo.DB
	bucket *Bucket
}

// NewStore makes a store.
func NewStore(db *dynamo.DB, bucket *Bucket) *Store { return &Store{db, bucket} }

// MayUpload returns FORBIDDEN if the caller is a program that may publish on no channel of an edge type.
func MayUpload(caller auth.Principal, edgeType string) error {
	if caller.Has(auth.PlatformOwner) || caller.MayPublishSome(edgeType) {
		return nil
	}
	return problem.New(problem.Forbidden, "The settings list no channel of %s on which this program may publish.", edgeType)
}

// MayRead returns FORBIDDEN if the caller is a program that may publish on no channel of an edge type. What uses an artifact is
// not for programs, either: they read nothing else about boxes.
func MayRead(caller auth.Principal, l Look) error {
	switch {
	case caller.Has(auth.PlatformViewer):
		return nil
	case l.Uses && !caller.Has(auth.PlatformOwner):
		return problem.New(problem.Forbidden, "A program does not see what uses an artifact. Omit uses.")
	}
	return MayUpload(caller, l.EdgeType)
}

// Row returns the row of an artifact; its Revision is 0 if there is none.
func (s *Store) Row(ctx context.Context, n Name) (Row, error) { return find(ctx, s.db, n) }

func find(ctx context.Context, db *dynamo.DB, n Name) (r Row, err error) {
	_, err = db.Get(ctx, dynamo.Releases, key(n), &r)
	return r, err
}

// Get returns an artifact, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, n Name) (Artifact, error) {
	if err := s.bucket.check(); err != nil {
		return Artifact{}, err
	}
	r, err := s.Row(ctx, n)
	if err == nil && r.Revision == 0 {
		err = problem.Missing()
	}
	return s.shown(r), err
}

// shown is an artifact with its URL.
func (s *Store) shown(r Row) Artifact {
	a := r.Artifact()
	if r.Arrived {
		a.URL = s.bucket.URL(r)
	}
	return a
}

// URL is where boxes download an artifact.
func (b *Bucket) URL(r Row) string { return b.downloads + "/" + r.Object() }

// List returns artifacts in the order of their edge types and digests; only those of an edge type if it is not empty.
func (s *Store) List(ctx context.Context, edgeType string, w dynamo.Span) (dynamo.Page[Artifact], error) {
	if err := s.bucket.check(); err != nil {
		return dynamo.Page[Artifact]{}, err
	}
	all := dynamo.Selection{Table: dynamo.Releases, Partition: Partition}
	if edgeType != "" {
		all.Least, all.Most = edgeType+"/", edgeType+"/~"
	}
	rows, err := dynamo.List[Row](ctx, s.db, all, w)
	page := dynamo.Page[Artifact]{More: rows.More, Last: rows.Last}
	for _, r := range rows.Items {
		page.Items = append(page.Items, s.shown(r))
	}
	return page, err
}

// An Asked is an artifact that somebody asked to upload.
type Asked struct {
	Artifact
	// Upload is missing if the bytes are there.
	Upload *Upload `json:"upload,omitempty"`
}

// Ask makes an artifact that waits for its bytes, or finds the one that is there. If it is kept, its bytes are looked up.
// It returns CONFLICT for another size, SHA-1 or MD5 than the service has found, FORBIDDEN as mayChange,
// RATE_LIMITED as enter, and UNAVAILABLE.
func (s *Store) Ask(ctx context.Context, caller auth.Principal, from audit.Origin, w Wish) (Asked, error) {
	if err := s.bucket.check(); err != nil {
		return Asked{}, err
	}
	var now Row
	asked := &wishes{by: caller}
	err := change.Make(ctx, s.db, from, func(set *change.Set) error {
		was, err := s.Row(ctx, w.Name)
		if err != nil {
			return err
		}
		missing := false
		if was.Arrived {
			there, err := s.bucket.Has(ctx, was)
			if err != nil {
				return err
			}
			missing = !there
		}
		next, event, err := was.ask(w, missing, set.After(was.UpdatedAt))
		if now = next; err != nil || event == "" {
			return err
		}
		if err := s.mayChange(ctx, caller, was, next); err != nil {
			return err
		}
		if was.Revision == 0 || was.State == Removed {
			if err := s.enter(ctx, asked, w.SizeBytes); err != nil {
				return err
			}
		}
		change.Record(set, Kind, was, next, event)
		return nil
	})
	if err != nil {
		return Asked{}, err
	}
	answer := Asked{Artifact: s.shown(now)}
	if !now.Arrived {
		answer.Upload, err = s.bucket.Sign(ctx, now)
	}
	return answer, err
}

// mayChange returns FORBIDDEN to a program that would say something else about an artifact that was asked for before, or
// change one that is of a release on a channel on which it may not publish.
func (s *Store) mayChange(ctx context.Context, caller auth.Principal, was, next Row) error {
	if caller.Has(auth.PlatformOwner) || was.Revision == 0 || was.State == Removed {
		return nil
	}
	n, releases := was.name(), release.NewStore(s.db)
	versions, err := releases.Using(ctx, n.EdgeType, n.SHA256)
	if err != nil {
		return err
	}
	channel, err := releases.Elsewhere(ctx, n.EdgeType, caller.MayPublish, versions...)
	if err == nil {
		err = program.Bound(channel, "the artifact")
	}
	if err == nil && was.SizeBytes != next.SizeBytes {
		err = problem.New(problem.Forbidden, "The artifact was asked for before. A program cannot change its size. Say the same, or let a platform owner make the call.")
	}
	return err
}

// Finish keeps an artifact whose bytes have arrived. It returns NOT_FOUND, ARTIFACT_NOT_KEPT if they have not or are still
// read, CONFLICT, and UNAVAILABLE.
func (s *Store) Finish(ctx context.Context, from audit.Origin, n Name) (Artifact, error) {
	if err := s.bucket.check(); err != nil {
		return Artifact{}, err
	}
	var now, read Row
	err := change.Make(ctx, s.db, from, func(set *change.Set) error {
		was, err := s.Row(ctx, n)
		if err == nil && was.State == Waiting && was.Key != read.Key {
			read, err = s.read(ctx, was)
		}
		if err != nil {
			return err
		}
		next, event, err := was.keep(read.Details, set.After(was.UpdatedAt))
		if now = next; err == nil && event != "" {
			change.Record(set, Kind, was, next, event)
		}
		return err
	})
	return s.shown(now), err
}

// Uses finds what uses an artifact; told leaves out boxes that only say that they run it, and were never told it.
type Uses func(ctx context.Context, n Name, told bool) ([]string, error)

// Delete deletes an artifact that nothing uses; with a reason, over boxes that were never told it. It returns NOT_FOUND, and
// ARTIFACT_IN_USE.
func (s *Store) Delete(ctx context.Context, from audit.Origin, n Name, uses Uses) error {
	if err := s.bucket.check(); err != nil {
		return err
	}
	return change.Make(ctx, s.db, from, func(set *change.Set) error {
		was, err := s.Row(ctx, n)
		if err != nil {
			return err
		}
		next, event, err := was.delete(set.After(was.UpdatedAt))
		if err != nil || event == "" {
			return err
		}
		next.OverClaims = from.Grounds.Reason != ""
		by, err := uses(ctx, n, next.OverClaims)
		if err == nil && len(by) > 0 {
			err = problem.New(problem.ArtifactInUse, "The artifact is in use: %s.", strings.Join(by, "; "))
		}
		if err == nil {
			change.Record(set, Kind, was, next, event)
		}
		return err
	})
}

// Complete completes a publication that names an artifact by its digest alone, or has artifacts as documents, and records
// the use of these. It returns ARTIFACT_NOT_KEPT, and CONFLICT if the publication says something else about the bytes.
func Complete(ctx context.Context, db *dynamo.DB, set *change.Set, p release.Publication) (release.Publication, error) {
	sums := p.Documents.Kept()
	if p.KeptAt != "" {
		sums = append(sums, p.SHA256)
	}
	slices.Sort(sums)
	for _, sum := range slices.Compact(sums) {
		n := Name{p.EdgeType, sum}
		r, err := find(ctx, db, n)
		if err == nil {
			err = r.Used(n)
		}
		if err != nil {
			return p, err
		}
		if p.KeptAt != "" && sum == p.SHA256 {
			if r.Contradicts(p.Details) {
				return p, r.differs()
			}
			p.Details, p.ArtifactURL, p.DownloadWithoutToken = r.Details.With(p.Details), p.KeptAt+"/"+r.Object(), true
		}
		set.With(dynamo.TransactPatch(ResourceType, dynamo.Releases, key(n), struct {
			Uses int64 `json:"uses"`
		}{r.Uses + 1},
			dynamo.Condition{Expr: "#key = :key AND #state = :kept AND #uses = :uses", Values: map[string]any{":key": r.Key, ":kept": Kept, ":uses": r.Uses}}))
	}
	return p, nil
}

// Check returns ARTIFACT_NOT_KEPT if a release has an artifact that the service no longer keeps. A deletion looks again for
// what uses it a week later, so a use that is made at the same moment needs no condition.
func Check(ctx context.Context, db *dynamo.DB, r release.Release) error {
	if !r.KeptArtifact {
		return nil
	}
	n := Name{r.EdgeType, r.SHA256}
	row, err := find(ctx, db, n)
	if err != nil {
		return err
	}
	return row.Used(n)
}
