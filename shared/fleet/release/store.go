package release

import (
	"context"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
)

// ResourceType is that of channels in the audit trail.
const ResourceType = "release-channel"

// A Store keeps channels and releases.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

// channelItem is a row with the keys that lists go by.
type channelItem struct {
	Row
	List    string `json:"list"`
	ListKey string `json:"listKey"`
}

// listAll is the one partition of the list of all channels: there are few of them.
const listAll = "channel"

// item orders channels by edge type first: a space comes before every character of a name, so that
// gateway comes before gateway-x.
func item(r Row) channelItem {
	return channelItem{Row: r, List: listAll, ListKey: r.EdgeType + " " + r.Channel.Channel}
}

// Get returns a channel, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, edgeType, channel string) (Channel, error) {
	row, err := s.Row(ctx, edgeType, channel)
	if err == nil && row.Revision == 0 {
		err = problem.Missing()
	}
	return row.Channel, err
}

// Row returns a channel with its wave; its Revision is 0 when there is no such channel.
func (s *Store) Row(ctx context.Context, edgeType, channel string) (row Row, err error) {
	_, err = s.db.Get(ctx, dynamo.Channels, dynamo.Key{"edgeType": edgeType, "channel": channel}, &row)
	return row, err
}

// Release returns what a version stands for, and whether it was ever published.
func (s *Store) Release(ctx context.Context, edgeType, version string) (r Release, found bool, err error) {
	found, err = s.db.Get(ctx, dynamo.Releases, dynamo.Key{"edgeType": edgeType, "version": version}, &r)
	return r, found, err
}

// Publish puts a version on a channel and tells whether the channel is new. It returns
// RELEASE_IMMUTABLE for a version that was published with another digest, PRECONDITION_FAILED, and
// CONFLICT when the channel keeps changing.
func (s *Store) Publish(ctx context.Context, from audit.Origin, p Publication, when request.Preconditions) (created bool, err error) {
	err = dynamo.Decide(func() error {
		var row Row
		var was Release
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) { row, err = s.Row(ctx, p.EdgeType, p.Channel); return err },
			func(ctx context.Context) (err error) {
				was, _, err = s.Release(ctx, p.EdgeType, p.CurrentVersion)
				return err
			})
		if err != nil {
			return err
		}
		created = row.Revision == 0 // of the last decision: an earlier one may have lost a race
		if err := when.Check(request.Revision(row.Revision)); err != nil {
			return err
		}
		if err := was.allows(p); err != nil {
			return err
		}
		at := audit.NotBefore(s.db.Now(), row.UpdatedAt)
		next, changed := row.publish(p, at)
		if !changed {
			return nil
		}
		parts := []dynamo.Part{
			dynamo.PutPart("channel", dynamo.Channels, item(next), Unchanged(row)),
			Changed(from, "ReleasePublished", row.Channel, next.Channel, at),
		}
		if was.ArtifactURL != p.ArtifactURL {
			parts = append(parts, releasePart(was, p, at))
		}
		return s.db.Commit(ctx, parts...)
	})
	return created, err
}

// releasePart binds the version to its digest. Another channel may bind it at the same moment; then
// the digest must be the same.
func releasePart(was Release, p Publication, at time.Time) dynamo.Part {
	next := Release{EdgeType: p.EdgeType, Version: p.CurrentVersion, ArtifactURL: p.ArtifactURL, SHA256: p.SHA256, PublishedAt: at}
	if !was.PublishedAt.IsZero() {
		next.PublishedAt = was.PublishedAt
	}
	return dynamo.PutPart("release", dynamo.Releases, next, dynamo.Condition{
		Expr: "attribute_not_exists(#version) OR #sha256 = :sha256", Values: map[string]any{":sha256": p.SHA256}})
}

// Unchanged holds while the row is the one that was read, its wave included.
func Unchanged(row Row) dynamo.Condition {
	return dynamo.AtRevision("edgeType", row.Revision).And(SameWave(row.Wave))
}

// SameWave holds while the row's wave is the one that was read.
func SameWave(w *Wave) dynamo.Condition {
	if w == nil {
		return dynamo.Absent("wave")
	}
	return dynamo.Condition{
		Expr:   "#wave.#id = :waveId AND #wave.#revision = :waveRevision",
		Values: map[string]any{":waveId": w.ID, ":waveRevision": w.Revision},
	}
}

// Changed is the audit event of a channel's change.
func Changed(from audit.Origin, name string, before, after Channel, at time.Time) dynamo.Part {
	what := audit.Resource{Type: ResourceType, ID: after.ID(), Revision: after.Revision}
	var was any
	if before.Revision > 0 {
		was = before
	}
	return audit.Part(audit.Platform, from, at, name, "", what, was, after)
}
