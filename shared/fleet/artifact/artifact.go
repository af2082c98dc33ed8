// Package artifact keeps the bytes of releases, in a bucket beside the database. The bytes never pass through the service:
// the uploader gets a signed URL of the bucket, which takes nothing but bytes with the digest, and boxes download from a
// cache before the bucket.
//
// An artifact waits for its bytes, is kept, and may be deleted. Its bytes go seven days later, or never if it is used
// again. See package usage for what uses it.
package artifact

import (
	"crypto/rand"
	"strings"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A State is what the service has of an artifact.
type State string

// States.
const (
	Waiting State = "waiting" // for its bytes
	Kept    State = "kept"
	Deleted State = "deleted" // boxes can still download it, until its bytes go
	Removed State = "removed" // its bytes are gone; it stays stored, so that no revision is used twice
)

const (
	// waits is how long an artifact waits for its bytes, after it was asked for, and lingers how long a deleted one is there.
	waits   = 24 * time.Hour
	lingers = 7 * 24 * time.Hour
	// uploads is how long an upload can begin. It ends long before its artifact no longer waits.
	uploads = time.Hour
)

// An Artifact is what callers see.
type Artifact struct {
	EdgeType string `json:"edgeType"`
	SHA256   string `json:"sha256"`
	Filename string `json:"filename"`
	// Details are its size, which the store checks, and its SHA-1 and MD5, once the service has computed them.
	release.Details
	State State `json:"state"`
	// URL is where boxes download it; empty while it waits, and in the audit trail.
	URL       string     `json:"url,omitempty"`
	RemoveAt  *time.Time `json:"removeAt,omitempty"` // when the bytes of a deleted one go, or went
	Revision  int64      `json:"revision"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt time.Time  `json:"updatedAt"`
}

// A Row is an artifact as it is stored: an item of the table of releases, in a partition of its own.
type Row struct {
	Partition string `json:"edgeType"`
	ID        string `json:"version"` // the edge type, a slash and the digest
	// Key is the secret part of its addresses, which does not follow from the digest, since documents publish that. It stays
	// until the artifact is removed.
	Key      string `json:"key"`
	Filename string `json:"filename"`
	release.Details
	State State `json:"state"`
	// Reading is how far the service has read the bytes, to compute their SHA-1 and MD5.
	Reading *Reading `json:"reading,omitempty"`
	// Arrived is set once its bytes were there.
	Arrived bool `json:"arrived,omitempty"`
	// Removing is set while the bytes of a removed one may still be there.
	Removing bool       `json:"removing,omitempty"`
	RemoveAt *time.Time `json:"removeAt,omitempty"`
	// OverClaims is set if it was deleted although boxes say that they run it, which were never told it.
	OverClaims bool `json:"overClaims,omitempty"`
	// Uses counts the publications of it, so that no deletion misses one that is made at the same time.
	Uses      int64     `json:"uses"`
	Revision  int64     `json:"revision"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	dynamo.Unknown
}

func (r Row) name() Name {
	edgeType, sum, _ := strings.Cut(r.ID, "/")
	return Name{edgeType, sum}
}

// Artifact is what callers see of a row.
func (r Row) Artifact() Artifact {
	return Artifact{EdgeType: r.name().EdgeType, SHA256: r.name().SHA256, Filename: r.Filename, Details: r.Details, State: r.State, RemoveAt: r.RemoveAt,
		Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

// Object is the name of its bytes in the bucket, and the path of its URLs.
func (r Row) Object() string { return r.Key + "/" + r.Filename }

// ask is the row after somebody asked to upload. missing is set if its bytes should be in the bucket and are not, as after
// a restore.
func (r Row) ask(w Wish, missing bool, at time.Time) (next Row, event string, err error) {
	next = r
	next.Revision, next.UpdatedAt = r.Revision+1, at
	if r.SHA1 == "" { // whoever said a wrong size before keeps nobody from uploading
		next.SizeBytes = w.SizeBytes
	}
	switch {
	case r.Removing:
		return r, "", problem.New(problem.Conflict, "The artifact is being removed. Ask again in some minutes.")
	case r.Revision == 0 || r.State == Removed:
		return Row{Partition: Partition, ID: id(w.Name), Key: strings.ToLower(rand.Text()), Filename: w.Filename,
			Details: release.Details{SizeBytes: w.SizeBytes}, State: Waiting, Revision: r.Revision + 1, CreatedAt: at, UpdatedAt: at}, "ArtifactAsked", nil
	case r.SHA1 != "" && r.Contradicts(release.Details{SizeBytes: w.SizeBytes, SHA1: w.SHA1, MD5: w.MD5}):
		return r, "", r.differs()
	case missing:
		next.State, next.Arrived, next.RemoveAt = Waiting, false, nil
		return next, "ArtifactMissed", nil
	case r.State == Deleted:
		r.SizeBytes = next.SizeBytes
		return r.restored(at), "ArtifactRestored", nil
	case next.SizeBytes != r.SizeBytes:
		return next, "ArtifactDescribed", nil
	case r.State == Waiting && at.Sub(r.UpdatedAt) > waits/2:
		return next, "ArtifactAsked", nil
	}
	return r, "", nil
}

func (r Row) differs() error {
	return problem.New(problem.Conflict, "The bytes are others than described: they have %d bytes, the SHA-1 %s and the MD5 %s.", r.SizeBytes, r.SHA1, r.MD5)
}

// restored is the row of a deleted artifact once its deletion is undone.
func (r Row) restored(at time.Time) Row {
	r.State, r.RemoveAt, r.OverClaims, r.UpdatedAt = Waiting, nil, false, at
	if r.Revision++; r.Arrived {
		r.State = Kept
	}
	return r
}

// keep is the row once its bytes are in the bucket, with what the service has read of them.
func (r Row) keep(read release.Details, at time.Time) (next Row, event string, err error) {
	switch {
	case r.Revision == 0:
		return r, "", problem.Missing()
	case r.State == Removed:
		return r, "", r.Used(r.name())
	case r.State == Deleted:
		return r, "", problem.New(problem.Conflict, "The artifact was deleted. Ask for the upload again to undo that.")
	case r.State == Kept:
		return r, "", nil
	}
	r.Details, r.Reading = read, nil
	r.State, r.Arrived, r.UpdatedAt = Kept, true, at
	r.Revision++
	return r, "ArtifactKept", nil
}

// delete is the row once somebody deletes an artifact that nothing uses.
func (r Row) delete(at time.Time) (next Row, event string, err error) {
	switch {
	case r.Revision == 0:
		return r, "", problem.Missing()
	case r.State == Deleted || r.State == Removed:
		return r, "", nil
	}
	r.State, r.RemoveAt, r.UpdatedAt = Deleted, new(at.Add(lingers)), at
	r.Revision++
	return r, "ArtifactDeleted", nil
}

// Due reports whether a sweep has something to do: the artifact has waited or was deleted for long enough, or its bytes
// may still be there.
func (r Row) Due(now time.Time) bool {
	switch r.State {
	case Waiting:
		return now.Sub(r.UpdatedAt) >= waits
	case Deleted:
		return !now.Before(*r.RemoveAt)
	}
	return r.Removing
}

// sweep is the row of a due artifact: it comes back if something uses it, and otherwise its bytes are removed.
func (r Row) sweep(used bool, at time.Time) (next Row, event string) {
	switch {
	case r.State == Removed || !r.Due(at):
		return r, ""
	case used:
		return r.restored(at), "ArtifactRestored"
	}
	r.State, r.Arrived, r.Removing, r.RemoveAt, r.UpdatedAt = Removed, false, true, new(at), at
	r.Revision++
	return r, "ArtifactRemoved"
}

// Used reports why a release cannot have the artifact: ARTIFACT_NOT_KEPT.
func (r Row) Used(n Name) error {
	switch r.State {
	case Kept:
		return nil
	case Waiting:
		return problem.New(problem.ArtifactNotKept, "The bytes of %s have not arrived. Upload them, and finish the upload.", n.SHA256)
	case Deleted, Removed:
		return problem.New(problem.ArtifactNotKept, "The artifact %s was deleted. Ask for its upload again.", n.SHA256)
	}
	return problem.New(problem.ArtifactNotKept, "The service keeps no artifact %s of %s. Upload it, or name its artifactUrl.", n.SHA256, n.EdgeType)
}
