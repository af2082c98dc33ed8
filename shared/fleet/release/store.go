package release

import (
	"context"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
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
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		var row Row
		var known Release
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) { row, err = s.Row(ctx, p.EdgeType, p.Channel); return err },
			func(ctx context.Context) (err error) {
				known, _, err = s.Release(ctx, p.EdgeType, p.CurrentVersion)
				return err
			})
		if err != nil {
			return err
		}
		created = row.Revision == 0 // of the last decision: an earlier one may have lost a race
		if err := when.Check(request.Revision(row.Revision)); err != nil {
			return err
		}
		if err := known.allows(p); err != nil {
			return err
		}
		next, event := row.publish(p, set.After(row.UpdatedAt))
		if event == "" {
			return nil
		}
		change.Record(set, Kind, row, next, event)
		if known.ArtifactURL != p.ArtifactURL {
			set.With(bind(known.published(p, next.UpdatedAt)))
		}
		return nil
	})
	return created, err
}

// bind keeps what a version stands for. Another channel may bind the version at the same moment; then
// the digest must be the same.
func bind(r Release) dynamo.Part {
	return dynamo.PutPart("release", dynamo.Releases, r, dynamo.Condition{
		Expr: "attribute_not_exists(#version) OR #sha256 = :sha256", Values: map[string]any{":sha256": r.SHA256}})
}

// Kind tells of channels. Their rows are stored, and the trail shows the channel alone.
var Kind = change.Kind[Row]{
	Type: ResourceType, Table: dynamo.Channels, Key: "edgeType",
	State: func(r Row) change.State {
		return change.State{ID: r.ID(), Revision: r.Revision, ChangedAt: r.UpdatedAt}
	},
	Item:      func(r Row) any { return item(r) },
	Shown:     func(r Row) any { return r.Channel },
	Unchanged: unchanged,
}

// unchanged holds while the row is the one that was read, its wave included.
func unchanged(row Row) dynamo.Condition {
	return dynamo.AtRevision("edgeType", row.Revision).And(sameWave(row.Wave))
}

// sameWave holds while the row's wave is the one that was read.
func sameWave(w *Wave) dynamo.Condition {
	if w == nil {
		return dynamo.Absent("wave")
	}
	return dynamo.Condition{
		Expr:   "#wave.#id = :waveId AND #wave.#revision = :waveRevision",
		Values: map[string]any{":waveId": w.ID, ":waveRevision": w.Revision},
	}
}

// Replace writes a row in place of the one that was read, where the channel itself stays as it is.
func Replace(was, next Row) dynamo.Part {
	return dynamo.PutPart(ResourceType, dynamo.Channels, item(next), unchanged(was))
}

// Carry makes the row of a channel carry a rollout as it is now, if the row still carries the rollout as
// it was. The row need not be read.
func Carry(edgeType, channel string, was, next Wave) dynamo.Part {
	return dynamo.UpdatePart(ResourceType, dynamo.Channels, dynamo.Key{"edgeType": edgeType, "channel": channel},
		"SET #wave = :wave", map[string]any{":wave": next}, sameWave(&was))
}
